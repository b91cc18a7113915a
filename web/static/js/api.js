// The server's REST routes.

export class ApiError extends Error {
  constructor(status, message, remedy = "") {
    super(message);
    this.status = status;
    this.remedy = remedy;
  }
}

async function get(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, credentials: "same-origin", cache: "no-store" });
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const { message = `the server answered ${response.status}`, remedy } = body.error ?? {};
  throw new ApiError(response.status, message, remedy);
}

export const getHealth = () => get("/api/health");
export const getTools = async () => (await get("/api/tools")).tools;
export const getTool = (name) => get(`/api/tools/${encodeURIComponent(name)}`);
export const getConversations = async () => (await get("/api/conversations")).conversations;
