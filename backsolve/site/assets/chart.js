// A chart drawn by Observable Plot: curves with their names at their ends, marked values, points, what is under the pointer, and what can be taken away of it.
"use strict";

(function () {
  const { element, figure, live, unitOf } = backsolve.form;

  const LETTER = 6.6, WIDE = 8.5, SMALL = 12, GAP = 14, NARROW = 480; // px
  const ROLES = ["compute", "weights", "kv", "price", "total"]; // by the numbers of the colours of a record
  const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "paint-order", "opacity", "font"];

  /** The colours of roles, as the style sheet has them for a light or a dark page. */
  const colourOf = (role) => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim() || "currentColor";

  /** The unit of an axis from its greatest value: size and name. */
  function unitFor({ row, words }, values) {
    if (!row) return { size: 1, title: words };
    const most = Math.max(...values.map(Math.abs)), [, size, unit] = row.units[unitOf(row, most)];
    if (/^[kMBT]?$/.test(unit) && most < 1e6) return { size: 1, title: words };
    return { size, title: words + (unit.trim() ? ` [${unit.trim()}]` : "") };
  }

  /** Places from the top, moved apart until each has room. */
  function apart(places, low, high) {
    const order = places.map((at, k) => ({ at, k })).sort((a, b) => a.at - b.at);
    order.forEach((one, k) => { one.at = Math.max(one.at, k ? order[k - 1].at + GAP : low); });
    for (let k = order.length - 1; k >= 0; k--) order[k].at = Math.min(order[k].at, k === order.length - 1 ? high : order[k + 1].at - GAP);
    return order.reduce((found, { at, k }) => { found[k] = at; return found; }, []);
  }

  /**
   * Draws a chart. `x` and `y` are {row, words, log, low, high, ticks}: `row` of the quantity gives the unit, `ticks` are pairs of a value and a text.
   * `lines` are {words, role, points, dashed}, `rules` {x or y, words}, `dots` {x, y, words, role, label, ends, href}, `areas` {points of [x, low, high], role}.
   */
  function draw({ x, y, lines = [], rules = [], dots = [], areas = [], told, tall }, width) {
    const { Plot } = globalThis, all = [...lines.flatMap((line) => line.points), ...dots.map((dot) => [dot.x, dot.y])];
    const ux = unitFor(x, [...(x.high ? [x.high] : all.map(([at]) => at))]), uy = unitFor(y, [y.high ?? Math.max(...all.map(([, value]) => value))]);
    const put = ([at, value]) => ({ x: at / ux.size, y: value / uy.size });
    const top = (y.high ?? 1.04 * Math.max(...all.map(([, value]) => value))) / uy.size, named = lines.filter((line) => line.words), quiet = colourOf("quiet"), text = colourOf("text");
    const positive = all.map(([, value]) => value).filter((value) => value > 0), base = y.low !== undefined ? y.low / uy.size : y.log ? Math.max(Math.min(...positive), y.high ? y.high / 1e4 : 0) / uy.size / 1.2 : 0;
    const upright = rules.filter((rule) => rule.x >= (x.low || 0) && rule.x <= x.high), above = 34 + GAP * Math.max(upright.length - 1, 0), BELOW = 40;
    const right = named.length ? Math.min(Math.max(...named.map(({ words }) => words.length)) * LETTER + 14, width * 0.38) : 20, height = (tall ?? (width < NARROW ? 178 : 246)) + above, left = top < 1e6 ? 52 : 62, page = colourOf("page");
    const clip = (value) => Math.min(Math.max(value, base), top), domain = [(x.low || 0) / ux.size, x.high / ux.size];
    const decades = (low, high) => (value) => ((high / low > 200 ? ["1"] : ["1", "2", "5"]).includes(value.toExponential()[0]) ? figure(value, 3) : "");
    const ticked = ({ log, ticks }, low, high) => (ticks ? { type: log ? "log" : "linear", axis: null, grid: false } : log ? { type: "log", tickFormat: decades(low, high) } : { type: "linear", ...(high < 1e-4 || high >= 1e15 ? { tickFormat: (value) => figure(value, 3) } : {}) });
    const options = {
      width, height, marginLeft: left, marginRight: right, marginTop: above, marginBottom: BELOW, style: { fontSize: `${SMALL}px`, fontFamily: "system-ui, sans-serif", color: text, background: "transparent" }, color: { type: "identity" },
      x: { domain, label: `${ux.title} →`, ticks: Math.max(width / 120, 2), ...ticked(x, ...domain) },
      y: { domain: [base, top], label: uy.title ? `↑ ${uy.title}` : null, grid: true, ticks: 5, ...ticked(y, base, top) } };
    /** The axis of a record: a logarithmic scale would leave out the texts of some ticks. */
    const fitting = (ticks) => { let end = 0; return ticks.filter(([at, said]) => { const half = (said.length * LETTER) / 2, fits = across(at) - half > end; if (fits) end = across(at) + half + 4; return fits; }); };
    const axisOf = (ticks, ...drawn) => (ticks ? drawn.map((mark) => mark(ticks.map(([at]) => at), { text: mark === Plot.gridY ? undefined : ticks.map(([, said]) => said) })) : []);
    const along = ([low, high], log, from, to) => (value) => { const [a, b, at] = [low, high, value].map(log ? Math.log : Number); return from + ((at - a) / (b - a)) * (to - from); };
    const across = along(domain, x.log, left, width - right), up = along([base, top], y.log, height - BELOW, above);
    /** The side of a place on which a text has room up to an edge. */
    const beside = (value, words, edge) => { const at = across(value), starts = at + words.length * LETTER + 8 <= edge || at < edge / 2; return { x: value, textAnchor: starts ? "start" : "end", dx: starts ? 8 : -8, fill: text }; };
    const spots = dots.map((dot) => [across(dot.x / ux.size), up(dot.y / uy.size)]);
    /** A dot with a place for its name: below it where the main curve rises, else above, and further away where another name is. */
    const placed = dots.filter((dot) => dot.label && dot.x <= x.high && dot.y / uy.size <= top).reduce((found, dot) => {
      const side = beside(dot.x / ux.size, dot.words, width - right), wide = dot.words.length * (dot.label === "where free" ? WIDE : LETTER), from = across(side.x) + side.dx - (side.dx < 0 ? wide : 0), to = from + wide;
      const at = up(dot.y / uy.size), rises = lines[lines.length - 1].points.slice(-1)[0][1] > 1.02 * dot.y, ways = rises ? [14, -9, 30, -25] : [-9, 14, -25, 30];
      const isFree = (dy) => at + dy < height - BELOW - 4 && at + dy > above && (dot.label !== "where free" || (from > left && to < width - right && spots.every(([place, middle]) => Math.abs(middle - at - dy + 4) > 9 || place < from - 5 || place > to + 5))) && found.every((one) => Math.abs(one.at + one.dy - at - dy) >= GAP || from > one.to + GAP || to + GAP < one.from);
      const dy = ways.find(isFree) ?? (dot.label === "where free" ? null : ways[0]);
      return dy === null ? found : [...found, { dot, side, at, from, to, dy }];
    }, []);
    const numbers = ({ x: at, y: value }) => (uy.title ? [`${ux.title}: ${figure(at, 4)}`, `${uy.title}: ${figure(value, 4)}`] : []);
    const near = [...lines.flatMap(({ words, points }) => points.map((at) => ({ words, ...put(at) }))), ...dots.map((dot) => ({ words: dot.words, ...put([dot.x, dot.y]) }))].map((one) => ({ ...one, said: [one.words, ...numbers(one)].filter(Boolean).join("\n") }));
    const heights = named.map(({ points }) => clip(points[points.length - 1][1] / uy.size)), spread = apart(heights.map(up), above + 8, height - BELOW);
    const marks = [
      ...axisOf(x.ticks && fitting(x.ticks), Plot.axisX), ...axisOf(y.ticks, Plot.gridY, Plot.axisY),
      ...areas.map(({ points, role }) => Plot.areaY(points.map(([at, low, high]) => ({ x: at / ux.size, low: low / uy.size, high: high / uy.size })), { x: "x", y1: "low", y2: "high", fill: colourOf(role), fillOpacity: 0.15, clip: true })),
      ...rules.filter((rule) => "y" in rule).map((rule) => Plot.ruleY([rule.y / uy.size], { stroke: quiet, strokeDasharray: "2 3" })),
      ...upright.flatMap((rule, k) => [
        Plot.ruleX([rule.x / ux.size], { stroke: quiet, strokeDasharray: "2 3" }), Plot.text([rule.words], { ...beside(rule.x / ux.size, rule.words, width), frameAnchor: "top", dy: -4 - k * GAP, lineAnchor: "bottom" })]),
      ...lines.map((line) => Plot.line(line.points.map(put), { x: "x", y: "y", stroke: colourOf(line.role), strokeWidth: line.role === "total" ? 3.2 : 1.8, strokeDasharray: line.dashed ? "5 4" : null, clip: true })),
      ...dots.filter(({ ends }) => ends).map(({ x: at, y: row, ends, role }) => (uy.title ? Plot.ruleX([at], { y1: ends[0], y2: ends[1], stroke: colourOf(role), strokeWidth: 2 }) : Plot.ruleY([row], { x1: ends[0], x2: ends[1], stroke: colourOf(role), strokeWidth: 2 }))),
      Plot.dot(dots.map((dot) => ({ ...dot, ...put([dot.x, dot.y]), ink: colourOf(dot.role) })), { x: "x", y: "y", r: 5, fill: ({ hollow, ink }) => (hollow ? page : ink), stroke: "ink", strokeWidth: 2, clip: true, href: "href", title: "words" }),
      ...placed.map(({ dot, side, dy }) => Plot.text([dot.words], { ...side, y: dot.y / uy.size, dy, stroke: page, strokeWidth: 3 })),
      ...named.map((line, k) => Plot.text([line.words], { x: domain[1], y: heights[k], dx: 5, dy: spread[k] - up(heights[k]), textAnchor: "start", fill: colourOf(line.role), fontWeight: line.role === "total" ? 700 : 400 })),
      Plot.tip(near, Plot.pointer({ x: "x", y: "y", title: "said", fill: page, stroke: quiet, textPadding: 6 }))];
    const svg = Plot.plot({ ...options, marks, ariaLabel: told });
    svg.setAttribute("role", dots.some(({ href }) => href) ? "group" : "img");
    for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // the picture has a name, of its parts only a link has one
    for (const link of svg.querySelectorAll("a")) link.setAttribute("aria-label", link.textContent);
    return svg;
  }

  /** The chart of a record, whose numbers are in the units of its axes, as `draw` takes it. */
  function ofRecord({ title, marks, rules, ends, ticks, links, ...axes }) {
    const axis = (name) => ({ row: null, words: axes[name].words, log: axes[name].is_logarithmic, ticks: ticks[name], low: ends[name][0], high: ends[name][1] });
    const of = (form) => marks.map((mark, k) => ({ ...mark, words: mark.name, role: ROLES[mark.colour ?? k] })).filter((mark) => mark.form === form);
    const dot = ({ xs, ys, ends, names, role }) => xs.map((x, k) => ({ x, y: ys[k], ends: ends[k], words: names[k] || "", href: links[names[k]], label: names[k] && "where free", role }));
    return {
      x: axis("across"), y: axis("up"), told: title, tall: axes.up.rows.length ? 48 * axes.up.rows.length + 40 : 400, rules: rules.map(({ name, at }) => ({ x: at, words: name })), dots: of("points").flatMap(dot),
      lines: of("line").map((line) => ({ ...line, points: line.xs.map((x, k) => [x, line.ys[k]]) })), areas: of("area").map((area) => ({ ...area, points: area.xs.map((x, k) => [x, ...area.ends[k]]) })),
      key: ["points", "area"].flatMap(of) };
  }

  function saved(name, address) {
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: name });
    link.click();
  }

  /** The curves as a table: a row for each place across, a column for each curve, in SI. */
  function csv({ x, lines }) {
    const columns = lines.map((line) => new Map(line.points)), places = [...new Set(lines.flatMap((line) => line.points.map(([at]) => at)))].sort((a, b) => a - b);
    const quoted = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = [`${x.words}${x.row ? ` [${x.row.unit}]` : ""}`, ...lines.map(({ words }) => words)];
    return [heads.map(quoted), ...places.map((at) => [at, ...columns.map((column) => column.get(at) ?? "")])].map((row) => row.join(",")).join("\n") + "\n";
  }
  const saveCsv = (name, text) => saved(`${name}.csv`, `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`);

  /** A copy of a picture that looks the same without the style sheet of the page. */
  function styled(svg) {
    const copy = svg.cloneNode(true), copies = [copy, ...copy.querySelectorAll("*")];
    [svg, ...svg.querySelectorAll("*")].forEach((one, k) => { const look = getComputedStyle(one); for (const name of LOOK) copies[k].style.setProperty(name, look.getPropertyValue(name)); });
    return copy;
  }

  /** The picture as it is on the page, at twice its size. */
  async function savePng(name, svg) {
    const { width, height } = svg.viewBox.baseVal, canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    const image = new Image(), pen = canvas.getContext("2d");
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(styled(svg)))}`;
    await image.decode();
    pen.fillStyle = colourOf("page");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    saved(`${name}.png`, canvas.toDataURL("image/png"));
  }

  // Charts whose record is beside the drawing that a reader without scripts has.
  for (const { textContent, previousElementSibling: holder } of document.querySelectorAll("script.record")) {
    const chart = ofRecord(JSON.parse(textContent)), key = element("p", { class: "key" }, ...chart.key.map(({ role, words }) => element("span", { class: `of-${role}` }, words)));
    const show = () => holder.replaceChildren(draw(chart, holder.clientWidth), key);
    live(show, show);
  }

  backsolve.chart = { csv, draw, saveCsv, savePng };
})();
