// Runs before the first paint, so that a dark page never flashes white. A file of its own: the policy forbids inline scripts.
(() => {
  var choice = null;
  try {
    choice = localStorage.getItem("stepscope.theme");
  } catch (_) {
    // Storage may be switched off; the system's choice is then used.
  }
  var dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
