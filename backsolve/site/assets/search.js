// The search box: every word that is typed has to be somewhere in a page; what has it in its title comes first.
"use strict";
(() => {
  const MOST = 12;
  const root = new URL("..", document.currentScript.src).href;
  const made = (tag, attributes) => Object.assign(document.createElement(tag), attributes);
  const box = document.getElementById("search");
  const field = made("input", { type: "search", placeholder: "Search ( / )", autocomplete: "off", spellcheck: false, ariaLabel: "Search" });
  const panel = made("div", { className: "found", hidden: true });
  const status = made("p", { id: "search-found", role: "status" });
  const list = made("ul");
  field.setAttribute("aria-describedby", status.id);
  panel.append(status, list);
  box.append(field, panel);
  box.hidden = false;

  // The index is fetched when somebody is about to search, by an element: pages from a disk may fetch in no other way.
  let loading = null;
  const load = () => loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${root}assets/search-index.js`;
    script.addEventListener("load", () => done(globalThis.backsolve.search.map(prepared)));
    document.head.append(script);
  });

  const prepared = ([title, kind, address, summary, words]) => ({
    title, kind, address, summary, head: title.toLowerCase(), all: `${title} ${kind} ${summary} ${words}`.toLowerCase().replaceAll("_", " "),
  });

  // Small is near: the title itself, its beginning, a word of it, somewhere in it, somewhere in the text.
  const distance = (row, typed, words) => {
    if (!words.every((word) => row.all.includes(word))) return Infinity;
    const head = row.head.replaceAll("_", " ");
    if (head === typed) return 0;
    if (head.startsWith(typed)) return 1;
    if (words.every((word) => ` ${head}`.includes(` ${word}`))) return 2;
    return words.every((word) => head.includes(word)) ? 3 : 4;
  };

  const item = (row) => {
    const link = document.createElement("a");
    link.href = root + row.address;
    const parts = [["strong", row.title], ["span", row.kind], ["small", row.summary]].map(([tag, text]) => {
      const part = document.createElement(tag);
      part.textContent = text;
      return part;
    });
    link.append(...parts);
    const line = document.createElement("li");
    line.append(link);
    return line;
  };

  const look = async () => {
    const typed = field.value.trim().toLowerCase().replaceAll("_", " ");
    panel.hidden = !typed;
    if (!typed) return;
    const rows = await load();
    const words = typed.split(/\s+/);
    const found = rows.map((row) => [distance(row, typed, words), row]).filter(([far]) => far < Infinity);
    found.sort(([a, one], [b, other]) => a - b || one.title.length - other.title.length);
    status.textContent = found.length ? `${found.length} found${found.length > MOST ? `, the first ${MOST}` : ""}` : "Nothing found";
    list.replaceChildren(...found.slice(0, MOST).map(([, row]) => item(row)));
  };

  const step = (event, by) => {
    const stops = [field, ...list.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + by;
    event.preventDefault();
    stops[Math.max(0, Math.min(next, stops.length - 1))].focus();
  };

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
