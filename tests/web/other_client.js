// A client of another maker, of the AI SDK: what it sees of the MCP server at ADDRESS with TOKEN, as JSON.

import { createMCPClient } from "@ai-sdk/mcp";

const { ADDRESS, TOKEN } = process.env;
const client = await createMCPClient({
  transport: { type: "http", url: ADDRESS, headers: { Authorization: `Bearer ${TOKEN}` } },
});
const { tools } = await client.listTools();
const set = await client.tools();
const call = (name, args) => set[name].execute(args, { toolCallId: "1", messages: [] });
const ran = await call("run_tool", { name: "add", arguments: { a: 1, b: 2 } });
const asked = await call("ask", { request: "say hello" });
const refused = await call("run_tool", { name: "gone" });
await client.close();
console.log(JSON.stringify({ names: tools.map(({ name }) => name), ran, asked, refused }));
