/** After `g`, the letter of each page. */
export const LETTERS: Readonly<Record<string, string>> = {
  "/runs": "r",
  "/charts": "c",
  "/compare": "v",
  "/parameters": "h",
  "/media": "i",
  "/distributions": "d",
  "/model": "m",
  "/profile": "p",
  "/reports": "e",
};
