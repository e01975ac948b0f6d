// Asks for what the Charts page asks first, while the app itself is still on its way: see src/lib/early.ts.
// Not `async`: with the app in the cache it would come too late, and ask in vain.
(() => {
  var parts = /^#\/charts(?:\?(.*))?$/.exec(location.hash);
  var query = parts && new URLSearchParams(parts[1] || "");
  if (!query || query.get("project")) return;
  var asked = (window.stepscopeEarly = {});
  function ask(path, request) {
    var body = JSON.stringify(request);
    var headers = { "X-Stepscope": "1", Accept: "application/json", "Content-Type": "application/json" };
    var answer = fetch(path, { method: "POST", credentials: "same-origin", headers: headers, body: body });
    answer.catch(() => {}); // the page asks again and says what is wrong
    asked[`POST ${path} ${body}`] = answer;
    return { answer: answer, name: `POST ${path} ${body}` };
  }
  var runs = query.get("runs");
  if (runs) return void ask("/api/panels", { runs: runs.split(",") });
  var first = ask("/api/runs", { query: "", sort: "created", descending: true, limit: 10 });
  first.answer
    .then((answer) => {
      // Once the app has taken it, the app is awake and asks for what follows by itself.
      return answer.ok && first.name in asked ? answer.clone().json() : null;
    })
    .then((page) => {
      if (!(first.name in asked)) return;
      var ids = page?.rows.map((row) => row.id);
      if (ids?.length) ask("/api/panels", { runs: ids });
    })
    .catch(() => {});
})();
