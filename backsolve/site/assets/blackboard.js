// The blackboard, live: six pictures over shared sliders. The curves are trees of the catalogue, worked out one after another.
"use strict";

(function () {
  const { engine, form } = backsolve, POINTS = 96;

  /** The next of 1, 2, 5 and their decades, where an axis may end. */
  function roundEnd(value) {
    const decade = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((step) => step * decade).find((end) => end >= value * (1 - 1e-9));
  }

  /** A picture at some values: the end of its axis, and its curves as points. */
  function curves(board, picture, given, log = false) {
    const whole = engine.chain(board.legs, given), end = roundEnd(engine.valueOf(picture.end, whole));
    const even = Array.from({ length: POINTS }, (_, k) => (log ? end / 10 ** (4 * (1 - (k + 1) / POINTS)) : (end * (k + 1)) / POINTS));
    const places = picture.whole ? Array.from({ length: end }, (_, k) => k + 1) : even;
    const at = (x, beside) => engine.chain(board.legs, { ...given, ...beside, [picture.across]: x });
    const lines = picture.lines.map((line) => ({ ...line, points: places.map((x) => [x, engine.valueOf(line.of, at(x, line.beside))]) }));
    return { whole, end, lines };
  }

  backsolve.board = { curves };

  const place = globalThis.document && document.getElementById("board");
  if (!place) return;
  const { chart } = backsolve, { element, show } = form;
  const board = JSON.parse(document.getElementById("board-data").textContent), { presets } = board, [first] = Object.keys(presets);
  const quantities = Object.fromEntries(Object.entries(backsolve.quantities).map(([name, row]) => [name, engine.rowOf(row)]));
  const slugs = Object.fromEntries(Object.keys(presets).map((name) => [name, name.toLowerCase().replace(/[^a-z0-9]+/g, "-")]));
  const MINE = "backsolve.mine", state = { preset: first, values: { ...presets[first] }, sustained: false, log: false };
  const names = Object.keys(presets[first]).filter((name) => board.sliders.includes(name)), words = (name) => board.titles[name] || name.replaceAll("_", " ");
  const given = () => ({ ...board.neutral, ...(state.sustained ? board.sustained : {}), ...state.values });
  const differs = () => names.filter((name) => state.values[name] !== presets[state.preset][name]);

  const address = () => [
    ...(state.preset === first ? [] : [["preset", slugs[state.preset]]]), ...differs().map((name) => [name, form.typedFor(quantities[name], state.values[name])]),
    ...(state.sustained ? [["rates", "sustained"]] : []), ...(state.log ? [["axes", "log"]] : [])];

  const { notice, moved, link } = form.shared(address, () => { if (differs().length) keep(); drawn(); });

  function fromAddress() {
    const asked = form.asked(), texts = new Map(asked), preset = Object.keys(presets).find((name) => slugs[name] === texts.get("preset")) || first;
    Object.assign(state, { preset, values: { ...presets[preset] }, sustained: texts.get("rates") === "sustained", log: texts.get("axes") === "log" });
    form.fill(knobs, state.values, texts);
    const fits = { preset: slugs[preset], rates: "sustained", axes: "log" };
    notice.textContent = form.refused(asked.filter(([name, text]) => !names.includes(name) && fits[name] !== text));
    drawn();
  }
  const mine = () => { try { return localStorage.getItem(MINE); } catch { return null; } };
  const keep = () => { try { localStorage.setItem(MINE, form.fragment(address())); } catch { /* a page from disk may keep nothing */ } };

  function changed(name, knob) {
    if (!knob.wrong) state.values[name] = knob.value;
    moved();
  }

  const knobs = Object.fromEntries(names.map((name) => [name, form.knob(quantities[name], words(name), (knob) => changed(name, knob))]));
  const buttons = [
    ...Object.keys(presets).map((name) => form.toggle(name, () => state.preset === name && !differs().length, () => { Object.assign(state, { preset: name, values: { ...presets[name] } }); form.fill(knobs, state.values); moved(); })),
    form.toggle("mine", () => differs().length > 0, () => { const text = mine(); if (text) location.hash = text; else notice.textContent = "Nothing is kept yet. Move a slider, and this button brings your numbers back."; })];
  const rates = form.toggle("sustained rates", () => state.sustained, () => { state.sustained = !state.sustained; moved(); });
  const axes = form.toggle("logarithmic axes", () => state.log, () => { state.log = !state.log; moved(); });

  const sentence = document.getElementById("board-sentence") || element("p"), verdict = element("output", { "aria-live": "polite" });
  const scrubs = [...sentence.querySelectorAll("[data-name]")].map((span) => scrub(span, span.dataset.name));
  sentence.append(verdict);

  function scrub(span, name) {
    const knob = knobs[name], FULL = 400; // px from one end of the slider to the other
    let from = null;
    for (const [key, text] of Object.entries({ role: "slider", tabindex: 0, "aria-label": words(name), "aria-valuemin": 0, "aria-valuemax": 100 })) span.setAttribute(key, text);
    span.addEventListener("pointerdown", (event) => { from = { x: event.clientX, share: knob.share() }; span.setPointerCapture(event.pointerId); event.preventDefault(); span.focus(); });
    span.addEventListener("pointermove", (event) => { if (from) knob.move(from.share + (event.clientX - from.x) / FULL); });
    span.addEventListener("pointerup", () => { from = null; });
    span.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 0.01, ArrowUp: 0.01, ArrowLeft: -0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1 }[event.key];
      if (step) { event.preventDefault(); knob.move(knob.share() + step); }
    });
    return () => {
      span.textContent = counted(name, state.values[name]);
      span.setAttribute("aria-valuenow", String(Math.round(100 * knob.share())));
      span.setAttribute("aria-valuetext", span.textContent);
    };
  }
  const counted = (name, value) => (quantities[name].unit === "1" && value < 1e5 ? Number(value.toPrecision(4)).toLocaleString("en") : show(quantities[name], value));

  function told() {
    const values = engine.chain(board.legs, given()), balance = counted("balance_batch", values.balance_batch), times = form.figure(values.normalised_cost, 3);
    const isBound = values.memory_time > values.compute_time * (1 + 1e-9);
    verdict.textContent = `${isBound ? "memory-bound" : "compute-bound"}, at ${times} times the lowest cost. Balance batch: ${balance}.`;
  }

  const redraws = [...document.querySelectorAll(".picture")].map((box) => {
    const key = box.id.replace("picture-", ""), picture = board.pictures.find((one) => one.key === key), holder = box.querySelector(".drawing");
    const button = (said, onclick) => element("button", { type: "button", onclick }, said);
    box.querySelector(".tools").append(link(), ...(picture ? [button("CSV", () => chart.saveCsv(key, chart.csv(chartOf(picture))))] : []), button("PNG", () => chart.savePng(key, holder.firstElementChild)));
    if (!picture) return () => {}; // no slider moves it
    box.querySelector(".own").append(...picture.sliders.map((name) => knobs[name].root));
    return () => { if (holder.clientWidth) holder.replaceChildren(chart.draw(chartOf(picture), holder.clientWidth)); };
  });

  function chartOf(picture) {
    const log = state.log && !picture.whole, { whole, end, lines } = curves(board, picture, given(), log), x = quantities[picture.across], y = quantities[picture.up];
    const at = (tree) => engine.valueOf(tree, whole), spot = ([where, called]) => { const from = at(where); return { x: from, y: engine.valueOf(picture.up, engine.chain(board.legs, { ...given(), [picture.across]: from })), words: called, role: "text", label: true, hollow: called !== "your batch" }; };
    const low = log ? end / 1e4 : picture.whole ? 1 : 0;
    return {
      x: { row: x, words: words(picture.across), log, low, high: end }, y: { row: picture.up === "normalised_cost" ? null : y, words: picture.up_words || words(picture.up), log: state.log, high: picture.most && !state.log ? Math.min(picture.most, Math.max(...lines.flatMap((line) => line.points.map(([, value]) => value))) * 1.04) : undefined },
      lines, rules: picture.marks.map(([where, called]) => ({ x: at(where), words: `${called} ${counted(picture.across, at(where))}` })), dots: picture.spots.map(spot), told: picture.title };
  }

  function drawn() {
    for (const name of names) if (!knobs[name].wrong && knobs[name].value !== state.values[name]) knobs[name].set(state.values[name]);
    for (const one of [...buttons, rates, axes]) one.tell();
    for (const tell of scrubs) tell();
    told();
    for (const redraw of redraws) redraw();
  }

  place.append(
    element("div", { class: "board-choices" }, element("span", { role: "group", "aria-label": "Start from" }, ...buttons.map((one) => one.root)), rates.root, axes.root),
    element("div", { class: "knobs" }, ...board.shared.map((name) => knobs[name].root)), notice);
  form.live(fromAddress, drawn);
})();
