// The sizing desk: a model on chips, and what a step, a token and a user come to, as the fields move.
"use strict";

(function (root) {
  const { engine, form } = typeof module === "undefined" ? root.backsolve : { engine: require("./solver.js"), form: require("./form.js") };

  // -- what a deployment comes to ------------------------------------------------------------------------------------------------

  /** The fields that are filled in. */
  const filled = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

  /** The equations of a model on a chip that need nothing that is not known, and all that is known before they are put to use. */
  function posed(desk, { chip, dtype, model, fields }) {
    const preset = form.presetOf(desk, chip, dtype, model), missing = Object.keys(fields).filter((name) => fields[name] === null);
    const legs = [];
    for (const leg of preset.legs.slice(0, preset.asked)) {
      if (missing.some((name) => engine.has(leg.right, name))) missing.push(leg.makes);
      else legs.push(leg);
    }
    return { legs, given: { ...preset.defaults, ...preset.givens, ...fields } };
  }

  /** What there is more of than of the whole that it is a part of. */
  const parted = (desk, values) => Object.entries(desk.parts).filter(([part, whole]) => values[part] > values[whole])
    .map(([part, whole]) => ({ said: `${part} = ${values[part]}: no more than ${whole} = ${values[whole]}` }));

  /** All values of a deployment, which time of a step is the longer one, and which requirements are not met. */
  function deployed(desk, chosen) {
    const { legs, given } = posed(desk, chosen), values = engine.chain(legs, given), impossible = parted(desk, values);
    const { binding } = legs.find((leg) => leg.binding), longer = ({ larger, smaller }) => engine.valueOf(larger, values) >= engine.valueOf(smaller, values);
    return {
      legs, values, binds: (binding.find(({ wins }) => wins.every(longer)) || binding[0]).binds,
      unmet: [...impossible, ...legs.flatMap((leg) => engine.broken(leg, values))],
      fits: !impossible.length && values.memory_per_chip <= values.hbm_capacity };
  }

  const MOST = 2 ** 24;

  /** The largest whole number of something for which a deployment fits; 0 for none, null where there is no end to it. */
  function mostThatFits(desk, chosen, name) {
    const fits = (count) => deployed(desk, { ...chosen, fields: { ...chosen.fields, [name]: count } }).fits;
    return turn((count) => !fits(count), MOST, (found) => found - 1);
  }
  /** The fewest of something for which it fits; null where no number does. */
  function fewestThatFit(desk, chosen, name) {
    const fits = (count) => deployed(desk, { ...chosen, fields: { ...chosen.fields, [name]: count } }).fits;
    return turn(fits, 2 ** 17, (found) => found);
  }
  /** The first whole number from which on something is so, by doubling and halving. */
  function turn(isSo, most, told) {
    let high = 1;
    while (high <= most && !isSo(high)) high *= 2;
    if (high > most) return null;
    let low = high / 2;
    while (high - low > 1) { const middle = Math.floor((low + high) / 2); if (isSo(middle)) high = middle; else low = middle; }
    return told(high === 1 || high - low <= 1 ? high : low);
  }

  /** The same question at the command line. */
  function command(desk, { chip, dtype, model, fields }, { values, fits }, quantities) {
    const asked = desk.asked.filter((name) => name in values), given = filled(fields);
    return `backsolve solve ${asked.join(",")} --hardware ${chip}:${dtype} --model ${model} ${form.typed(Object.keys(given), given, quantities)}${fits ? "" : " --anyway"}`;
  }

  if (typeof module !== "undefined") { module.exports = { command, deployed, mostThatFits, fewestThatFit }; return; }

  // -- the page ------------------------------------------------------------------------------------------------------------------

  const place = document.getElementById("desk");
  if (!place) return;
  const { roofline } = root.backsolve, { element, show } = form;
  const PRICE = "chip_price"; // without it all is answered but costs
  const desk = { ...root.backsolve.presets, ...JSON.parse(document.getElementById("desk-data").textContent) }, names = Object.keys(desk.beside);
  const quantities = Object.fromEntries(Object.entries(root.backsolve.quantities).map(([name, row]) => [name, engine.rowOf(row)]).map(([name, row]) => [name, { ...row, undivided: row.whole, optional: name === PRICE }]));
  const words = (name) => name.replaceAll("_", " ");
  const [chip, dtype, model] = desk.start, state = { chip, dtype, model, fields: { ...desk.beside }, priced: false, over: "batch", picture: "step_time", span: null };
  const PICTURES = { step_time: "time of a step", cost_per_token: "cost of a token", tokens_per_second_per_user: "tokens per second of a user", memory_per_chip: "memory of a chip" };
  const OVER = ["batch", "context_length", "chips"], TIMES = ["memory_time", "compute_time"];
  const PARTS = { weight_time: "reading weights", kv_time: "reading the cache", compute_time: "arithmetic of weights", attention_time: "arithmetic of attention" };

  const TITLES = {
    chip_price: "price of a chip", bytes_per_element: "bytes of a cached value", kv_replication: "copies of the cache over the chips",
    mfu: "share of the peak FLOP/s sustained", mbu: "share of the bandwidth sustained" };

  function fromAddress() {
    const within = (name) => (value) => "value" in form.withinDomain(quantities[name], value);
    const number = (name) => form.takenInto(state.fields, name, within(name), Number);
    const blank = (text) => { if (text === "") state.fields[PRICE] = null; return text === ""; };
    notice.textContent = form.fromAddress({
      hardware: chosen, model: form.takenInto(state, "model", (name) => Object.hasOwn(desk.models, name)),
      ...Object.fromEntries(names.map((name) => [name, name === PRICE ? (text) => blank(text) || number(name)(text) : number(name)])),
      over: form.takenInto(state, "over", (name) => OVER.includes(name)), picture: form.takenInto(state, "picture", (name) => Object.hasOwn(PICTURES, name)) });
    state.priced = ![rent(), null].includes(state.fields[PRICE]);
  }
  /** Takes a chip in a data type, where there is such a one, and its rent unless a price was typed. */
  function chosen(text) {
    const there = chips.some(([name]) => name === text);
    if (there) { [state.chip, state.dtype] = text.split(":"); rented(); }
    return there;
  }
  const toAddress = form.inAddress(() => ({ hardware: `${state.chip}:${state.dtype}`, model: state.model, ...filled(state.fields), ...(state.fields[PRICE] === null && rent() !== null ? { [PRICE]: "" } : {}), over: state.over, picture: state.picture }));
  const rent = () => desk.chips[state.chip].givens[PRICE] ?? null;
  const rented = () => { if (!state.priced) state.fields[PRICE] = rent(); };

  const chips = Object.entries(desk.chips).flatMap(([name, one]) => Object.keys(one.types).map((type) => [`${name}:${type}`, `${name} in ${type}`]));
  const hardware = form.choice("Chip", chips, null, (value) => { chosen(value); ask(); });
  const models = form.choice("Model", Object.keys(desk.models), null, (value) => { state.model = value; ask(); });
  const over = form.choice("Over", OVER.map((name) => [name, words(name)]), null, (value) => { state.over = value; state.span = null; draw(); toAddress(); });
  const pictures = form.choice("Picture", Object.entries(PICTURES), null, (value) => { state.picture = value; draw(); toAddress(); });
  const fields = new Map(names.map((name) => [name, form.field(name, quantities[name], changed, TITLES[name])]));
  const notice = element("p", { class: "solver-fault", role: "alert" });
  const answer = element("output", { class: "solver-answer desk-answer", "aria-live": "polite", "aria-atomic": "true" });
  const shares = element("div", { class: "desk-shares" }), figureOf = element("figure", { class: "solver-figure" }), roofOf = element("div"), way = element("ol", { class: "desk-way" });
  const typedOf = element("code", {}), slim = element("p", { class: "desk-slim", "aria-hidden": "true" });

  function changed(field) {
    notice.textContent = "";
    if (!field.wrong) state.fields[field.name] = field.value;
    if (field.name === PRICE) state.priced = field.value !== null;
    const wrong = names.find((name) => fields.get(name).wrong);
    if (wrong) { unanswered(`${TITLES[wrong] || words(wrong)} cannot be used as it stands`); return; }
    sized();
  }
  function ask() {
    hardware.select.value = `${state.chip}:${state.dtype}`;
    models.select.value = state.model;
    over.select.value = state.over;
    pictures.select.value = state.picture;
    for (const name of names) fields.get(name).set(state.fields[name]);
    state.span = null;
    sized();
  }
  let waiting = 0;
  const later = (act) => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(act); };

  function unanswered(why) {
    answer.replaceChildren(element("p", { class: "solver-none" }, `No answer: ${why}.`));
    slim.textContent = "No answer";
    later(() => { for (const part of [shares, roofOf, figureOf, way, typedOf]) part.replaceChildren(); });
  }
  function sized() {
    const found = deployed(desk, state);
    toAddress();
    if (found.unmet.length) { unanswered(found.unmet.map((one) => one.otherwise || one.said).join("; ")); return; }
    answer.replaceChildren(...told(found));
    slim.textContent = briefly(found);
    later(() => { sharesOf(found); wayOf(found); roofOf.replaceChildren(roofline.figure(desk.roof, found.values)); later(draw); });
  }

  const bounded = (name, value) => `${show(quantities[name], value)}${{ lower: " or more", upper: " or less" }[desk.bounds[name]] || ""}`;
  const fact = (name, title, value, more = "") => element("div", { class: "desk-fact" }, element("span", {}, title), element("strong", {}, value), element("small", {}, more));

  /** The answer in a line, which stays in sight on a phone. */
  const briefly = ({ values, binds, fits }) => [
    fits ? "fits" : "does not fit", show(quantities.step_time, values.step_time, 3),
    ...("cost_per_token" in values ? [show(quantities.cost_per_token, values.cost_per_token, 3)] : []), `${binds} binds`].join(" · ");

  /** What is to be said of the price of a chip. */
  function ofPrice() {
    const none = rent() === null ? [`The table has no rent of ${state.chip}.`] : [], blank = state.fields[PRICE] === null;
    if (blank) return [...none, "Set the price of a chip to see what a token costs."];
    return none.map((said) => `${said} The price of a chip is what you set.`);
  }

  function told({ values, binds, fits }) {
    const size = (value) => show(quantities.hbm_capacity, value), { longest } = desk.models[state.model];
    const most = mostThatFits(desk, state, "batch"), least = fits ? null : fewestThatFit(desk, state, "chips");
    const ways = [...(least === null ? [] : [`${least} chips`]), ...(most ? [`a batch of ${most}`] : [])];
    const room = fits ? (most === null ? "any batch fits" : `a batch of ${most} still fits`) : ways.length ? `it takes ${ways.join(", or ")}` : "no number of chips holds it";
    const short = element("p", { class: "desk-note" }, "It does not fit: times and costs are those of chips with more memory.");
    const notes = [
      ...(longest && state.fields.context_length > longest ? [`${state.model} was published for ${show(quantities.context_length, longest)} at most.`] : []),
      ...ofPrice()];
    const memory = fact("memory", fits ? "fits: of a chip it takes" : "does not fit: of a chip it takes", `${size(values.memory_per_chip)} of ${size(values.hbm_capacity)}`, room);
    const come = element("div", { class: `desk-facts${fits ? "" : " desk-supposed"}` },
      fact("step_time", "a step takes", bounded("step_time", values.step_time), `${binds} binds`),
      fact("user", "a user gets", bounded("tokens_per_second_per_user", values.tokens_per_second_per_user)),
      fact("throughput", "all chips make", bounded("throughput", values.throughput)),
      "cost_per_token" in values ? fact("cost", "a token costs", bounded("cost_per_token", values.cost_per_token), "a million output tokens, all seats taken") : null);
    if (fits) come.append(memory);
    return [
      ...(fits ? [] : [short, element("div", { class: "desk-facts" }, memory)]), come,
      ...notes.map((note) => element("p", { class: "desk-note" }, note))];
  }

  function sharesOf({ values }) {
    const rows = Object.entries(PARTS).filter(([name]) => values[name] > 0).map(([name, title]) => {
      const share = values[name] / values.step_time, bar = element("span", { class: `solver-bar desk-${TIMES[0] === partOf(name) ? "memory" : "arithmetic"}` });
      bar.style.width = `${Math.min(share, 1) * 100}%`;
      return element("div", { class: "desk-share" }, element("span", {}, title), element("span", { class: "desk-track" }, bar),
        element("span", {}, `${show(quantities[name], values[name], 3)}, ${form.figure(100 * share, 2)} %`));
    });
    shares.replaceChildren(element("h2", {}, "What the step is made of"), element("p", {}, "Memory traffic and arithmetic go on at the same time; the longer of the two is the step."), ...rows);
  }
  const partOf = (name) => (["weight_time", "kv_time"].includes(name) ? "memory_time" : "compute_time");

  function wayOf(found) {
    const { legs, values } = found;
    typedOf.textContent = command(desk, state, found, quantities);
    way.replaceChildren(...legs.map((leg) => element("li", {},
      element("a", { href: `../eq/${leg.id}/index.html` }, leg.id), ` ${words(leg.makes)} = ${show(quantities[leg.makes], values[leg.makes])}`)));
  }

  // -- the picture ---------------------------------------------------------------------------------------------------------------

  const PLACES = 64;

  function draw() {
    const x = quantities[state.over], y = quantities[state.picture], here = state.fields[state.over];
    state.span = form.spanAround(x, here, state.span);
    const scale = form.scaleOf(state.span.low, state.span.high);
    const found = deployed(desk, state);
    if (found.unmet.length || !(state.picture in found.values)) {
      figureOf.replaceChildren(element("figcaption", {}, found.unmet.length ? "" : `No picture. ${ofPrice().join(" ")}`));
      return;
    }
    const rows = Array.from({ length: PLACES + 1 }, (_, k) => scale.at(k / PLACES)).map((at) => (
      { at, ...deployed(desk, { ...state, fields: { ...state.fields, [state.over]: at } }) })).filter(({ unmet }) => !unmet.length);
    const line = (name, kind, label) => ({ kind, label, points: rows.map(({ at, values }) => [at, name(values)]) });
    const lines = [line((values) => values[state.picture], "answer", PICTURES[state.picture])];
    if (state.picture === "step_time") {
      lines.push(line((values) => values.memory_time, "second", "memory traffic"),
        line((values) => engine.valueOf(arithmeticOf(found.legs), values), "term", "arithmetic"));
    }
    if (state.picture === "memory_per_chip") lines.push(line((values) => values.hbm_capacity, "second", "memory that a chip has"));
    const value = found.values[state.picture], scaleY = form.scaleAround([...lines.flatMap((one) => one.points.map(([, height]) => height)), value]);
    const short = rows.filter(({ fits }) => !fits).map(({ at }) => at);
    const label = `${PICTURES[state.picture]} over ${words(state.over)}`;
    figureOf.replaceChildren(
      form.picture({
        x: { row: x, scale, label: words(state.over) }, y: { row: y, scale: scaleY }, lines,
        bands: short.length ? [[short[0], scaleY.low, scaleY.high, short[short.length - 1]]] : [],
        point: [here, value], told: `${label}; at ${show(x, here)} it is ${show(y, value)}` }),
      element("figcaption", {}, label + (short.length ? "; shaded where memory is short" : "")));
  }
  /** The arithmetic of a step as the equation of its time has it: what is compared with the memory time. */
  function arithmeticOf(legs) {
    const { binding } = legs.find((leg) => leg.binding);
    return binding.find(({ binds }) => binds === "arithmetic").wins[0].larger;
  }

  rented();
  fromAddress();
  place.classList.add("solver");
  place.replaceChildren(
    element("div", { class: "solver-choices" }, hardware.root, models.root), notice, slim, answer,
    element("div", { class: "solver-fields" }, ...names.map((name) => fields.get(name).root)), shares, roofOf,
    element("div", { class: "solver-choices" }, pictures.root, over.root), figureOf,
    element("details", {}, element("summary", {}, "The way: every equation, and what it comes to here"), way),
    element("p", {}, "The same at the command line, with every assumption: ", typedOf));
  ask();
  root.addEventListener("hashchange", () => { fromAddress(); ask(); });
})(globalThis);
