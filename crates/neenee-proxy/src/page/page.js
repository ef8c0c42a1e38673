"use strict";
// Everything is set as text: what tools said is shown, never run.
const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const short = (n) => n >= 1e6 ? (n / 1e6).toFixed(1) + " M" : n >= 1e4 ? Math.round(n / 1e3) + " k" : number.format(n);
const money = (n) => n == null ? "no price" : (n < 0 ? "−$" : "$") + Math.abs(n).toFixed(Math.abs(n) < 1 ? 4 : 2);
const time = (ms) => ms ? new Date(ms).toLocaleTimeString() : "";
let open = decodeURIComponent(location.hash.slice(1)) || null;

function element(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key in node) node[key] = value; else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function drawn(tag, attributes) {
  const node = document.createElementNS("http:" + "//www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

async function ask(path) {
  const answer = await fetch(path, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status + " " + answer.statusText);
  return answer;
}

function showTotals(totals) {
  const kept = totals.tokens_in ? Math.round(100 * (1 - totals.tokens_out / totals.tokens_in)) : 0;
  const rows = [
    ["Conversations", number.format(totals.conversations)],
    ["In flight", number.format(totals.in_flight)],
    ["Prunes", number.format(totals.prunes)],
    ["Tokens not sent", short(totals.tokens_in - totals.tokens_out) + " (" + kept + " %)"],
    ["Saved", money(totals.saved)],
    ["Faults", number.format(totals.faults)],
  ];
  $("totals").replaceChildren(...rows.map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}

function showList(conversations) {
  $("empty").hidden = conversations.length > 0;
  const focused = document.activeElement && document.activeElement.dataset.id;
  $("list").replaceChildren(...conversations.map((one) => {
    const last = one.samples[one.samples.length - 1] || { forwarded: 0 };
    const share = one.window ? last.forwarded / one.window : 0;
    const bar = element("span", { className: "bar" });
    bar.setAttribute("aria-hidden", "true");
    const svg = drawn("svg", { viewBox: "0 0 100 1", preserveAspectRatio: "none" });
    svg.append(drawn("rect", { class: "used", x: 0, y: 0, height: 1, width: Math.min(100, 100 * share) }));
    const at = 100 * one.prune_threshold / (one.window || 1);
    svg.append(drawn("line", { class: "limit", x1: at, x2: at, y1: 0, y2: 1 }));
    bar.append(svg);
    const button = element("button", { type: "button" },
      element("strong", { textContent: (one.client || one.kind) + " · " + (one.model || "unknown model") }), bar,
      element("small", { textContent: short(last.forwarded) + " of " + short(one.window) + " tokens (" +
        Math.round(100 * share) + " %) · " + number.format(one.requests) + " requests · " +
        (one.cleared + one.truncated) + " results pruned · saved " + money(one.saved) + " · " + time(one.last) }));
    button.dataset.id = one.id;
    button.setAttribute("aria-current", String(one.id === open));
    button.addEventListener("click", () => { location.hash = one.id; });
    return element("li", {}, button);
  }));
  if (focused) {
    const again = [...$("list").querySelectorAll("button")].find((button) => button.dataset.id === focused);
    if (again) again.focus({ preventScroll: true });
  }
}

function showChart(one) {
  const samples = one.samples, width = 1000, height = 300;
  const top = Math.max(one.prune_threshold * 1.1, ...samples.map((s) => Math.max(s.sent, s.forwarded))) || 1;
  const x = (i) => samples.length < 2 ? width : width * i / (samples.length - 1);
  const y = (tokens) => height - height * tokens / top;
  const path = (value) => (samples.length < 2 ? "M0 " + y(value(samples[0] || { sent: 0, forwarded: 0 })) + "L" : "M") +
    samples.map((s, i) => x(i).toFixed(1) + " " + y(value(s)).toFixed(1)).join("L");
  const svg = drawn("svg", { viewBox: "0 0 " + width + " " + height, preserveAspectRatio: "none", role: "img" });
  const last = samples[samples.length - 1] || { sent: 0, forwarded: 0 };
  svg.setAttribute("aria-label", samples.length + " requests; the latest was sent with " + number.format(last.sent) +
    " and forwarded with " + number.format(last.forwarded) + " tokens; pruned over " + number.format(one.prune_threshold));
  if (samples.some((s) => s.usage)) {
    svg.append(drawn("path", { class: "cached", d: path((s) => s.usage ? s.usage.cache_read : 0) + "L" + width + " " + height + "L0 " + height + "Z" }));
  }
  for (const limit of [one.cold_threshold, one.prune_threshold, one.window]) {
    if (limit && limit <= top) svg.append(drawn("line", { class: "limit", x1: 0, x2: width, y1: y(limit), y2: y(limit) }));
  }
  svg.append(drawn("path", { class: "sent", d: path((s) => s.sent) }), drawn("path", { class: "forwarded", d: path((s) => s.forwarded) }));
  $("chart").replaceChildren(svg);
}

function table(node, heads, rows) {
  const cell = (tag) => ([value, kind]) => {
    const made = element(tag, { className: kind || "" });
    made.append(value);
    if (tag === "th") made.scope = "col";
    return made;
  };
  node.replaceChildren(
    element("thead", {}, element("tr", {}, ...heads.map(cell("th")))),
    element("tbody", {}, ...(rows.length ? rows : [[["none yet"]]]).map((row) => element("tr", {}, ...row.map(cell("td"))))));
}

async function showOriginal(id, result) {
  $("original-title").textContent = result.label || result.tool || "Original";
  $("original-text").textContent = "Loading…";
  $("original").showModal();
  try {
    const answer = await ask("api/conversations/" + encodeURIComponent(id) + "/originals/" + result.key);
    $("original-text").textContent = await answer.text();
  } catch (error) {
    $("original-text").textContent = "Not to be had: " + error.message;
  }
}

function showDetail(one) {
  $("detail").hidden = false;
  $("detail-title").textContent = "Conversation " + one.id;
  const cached = one.samples.reduce((sum, s) => sum + (s.usage ? s.usage.cache_read : 0), 0);
  const input = one.samples.reduce((sum, s) => sum + (s.usage ? s.usage.input + s.usage.cache_read + s.usage.cache_write : 0), 0);
  $("facts").textContent = [one.upstream, one.kind, one.model, one.session && "session " + one.session,
    one.parent && "fork of " + one.parent, "rewrite rule " + one.rule,
    input ? Math.round(100 * cached / input) + " % of the input read from the cache" : "no usage reported yet",
    "saved " + money(one.saved)].filter(Boolean).join(" · ");
  showChart(one);
  table($("decisions"),
    [["When"], ["Because"], ["Outcome"], ["Tokens", "number"], ["Given back", "number"], ["Results", "number"], ["Cache"], ["Cost once", "number"], ["Gain each", "number"]],
    [...one.decisions].reverse().map((d) => [[time(d.at)], [d.trigger], [d.outcome], [number.format(d.pressure), "number"],
      [number.format(d.reclaimed_tokens), "number"], [number.format(d.results), "number"],
      [d.warm == null ? "unknown" : d.warm ? "warm" : "cold"], [money(d.cost), "number"], [money(d.gain_per_request), "number"]]));
  table($("results"),
    [["Result"], ["Why"], ["Now"], ["Before", "number"], ["After", "number"]],
    (one.results || []).map((result) => {
      const button = element("button", { type: "button", textContent: result.label || result.tool || result.key });
      button.addEventListener("click", () => showOriginal(one.id, result));
      return [[button, "label"], [result.reason], [result.truncated ? "truncated" : "cleared"],
        [number.format(result.tokens[0]), "number"], [number.format(result.tokens[1]), "number"]];
    }));
}

let shown = "";
async function refresh() {
  try {
    const all = await (await ask("api/conversations")).json();
    showTotals(all.totals);
    showList(all.conversations);
    const one = open && all.conversations.find((c) => c.id === open);
    const mark = one ? one.id + " " + one.requests + " " + one.last : "";
    if (open && mark !== shown) {
      const answer = await fetch("api/conversations/" + encodeURIComponent(open));
      if (answer.ok) showDetail(await answer.json()); else $("detail").hidden = true;
      shown = mark;
    }
    $("state").textContent = "version " + all.version + " · up since " + new Date(all.started).toLocaleString();
  } catch (error) {
    $("state").textContent = "No answer: " + error.message;
  }
}

addEventListener("hashchange", async () => {
  open = decodeURIComponent(location.hash.slice(1)) || null;
  shown = "";
  await refresh();
  $("detail-title").focus({ preventScroll: false });
});
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 2000);
