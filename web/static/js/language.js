// The language of the page: the browser's, until a person chooses; the server reads the cookie, see web/texts.py.

const COOKIE = /(?:^|; )language=(\w+)/;
const YEAR = 365 * 24 * 3600;

export const languageChoice = () => document.cookie.match(COOKIE)?.[1] ?? "system";

// Loads the page again, since the server sends it in one language; drafts stay.
export function chooseLanguage(choice) {
  const age = choice === "system" ? 0 : YEAR;
  document.cookie = `language=${choice}; path=/; max-age=${age}; samesite=lax`;
  location.reload();
}
