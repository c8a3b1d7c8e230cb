// The search box: MiniSearch over titles, summaries and words, with typing errors and beginnings of words; sheets and equations before claims.
"use strict";
(() => {
  const MOST = 12, FEW = 3, FIELDS = ["title", "kind", "summary", "words"], TYPO = 0.2, SHORT = 4;
  const WEIGHTS = { "price sheet": 4, desk: 5, picture: 3, equation: 2.5, chapter: 2, quantity: 2, claim: 0.7, lecture: 0.7 };
  const root = new URL("..", document.currentScript.src).href, box = document.getElementById("search");
  const made = (tag, attributes, ...children) => { const one = Object.assign(document.createElement(tag), attributes); one.append(...children); return one; };
  const field = made("input", { type: "search", placeholder: "Search ( / )", autocomplete: "off", spellcheck: false, ariaLabel: "Search" });
  const status = made("p", { id: "search-found", role: "status" }), list = made("ul"), panel = made("div", { className: "found", hidden: true }, status, list);
  field.setAttribute("aria-describedby", status.id);
  box.append(field, panel);
  box.hidden = false;

  // The index is fetched when somebody is about to search, by an element: pages from a disk may fetch in no other way.
  const fetched = (file) => new Promise((done) => document.head.append(made("script", { src: `${root}assets/${file}`, onload: done })));
  let loading = null;
  const load = () => loading ??= Promise.all(["vendor/minisearch.js", "search-index.js"].map(fetched)).then(() => {
    const index = new MiniSearch({
      fields: FIELDS, storeFields: ["title", "kind", "address", "summary"],
      searchOptions: { boost: { title: 4, summary: 1.5 }, prefix: (term) => term.length > 1, fuzzy: (term) => (term.length > SHORT ? TYPO : false), boostDocument: (_, __, { kind }) => WEIGHTS[kind] || 1 } });
    index.addAll(backsolve.search.map(([title, kind, address, summary, words], id) => ({ id, title, kind, address, summary, words })));
    return index;
  });
  const item = ({ title, kind, address, summary }) => made("li", {}, made("a", { href: root + address }, made("strong", { textContent: title }), made("span", { textContent: kind }), made("small", { textContent: summary })));

  async function look() {
    // B* is written B_star in the catalogue, and a sign of multiplication is no word.
    const typed = field.value.trim().replaceAll("*", " star ").replaceAll("×", " ");
    panel.hidden = !typed;
    if (!typed) return;
    const index = await load(), all = index.search(typed, { combineWith: "AND" }), found = all.length < FEW ? index.search(typed) : all;
    status.textContent = found.length ? `${found.length} found${found.length > MOST ? `, the first ${MOST}` : ""}` : "Nothing found";
    list.replaceChildren(...found.slice(0, MOST).map(item));
  }
  function step(event, by) {
    const stops = [field, ...list.querySelectorAll("a")], next = stops.indexOf(document.activeElement) + by;
    event.preventDefault();
    stops[Math.max(0, Math.min(next, stops.length - 1))].focus();
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", look);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(event, 1);
    if (event.key === "ArrowUp") step(event, -1);
    if (event.key === "Enter" && event.target === field) list.querySelector("a")?.click();
    if (event.key === "Escape") { panel.hidden = true; field.focus(); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); field.focus(); }
  });
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) panel.hidden = true; });
})();
