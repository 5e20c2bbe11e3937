// flame.js - what a flame graph of nettape-report does: fits the window, zoom, search, keys. Part of the SVG that
// flame.c writes; it works on what that has drawn, and needs nothing from elsewhere.
//
// Each frame is a <g class="f"> with data-a and data-b, where it begins and ends as a part of the whole, and data-d,
// its depth. Items of the legend are <g class="k"> with data-w, their width; lines of the head <g class="t"> with
// data-t, the whole text.
"use strict";
(function () {
    const svg = document.documentElement;
    const frames = Array.from(svg.querySelectorAll("g.f"), (group) => ({
        group, rect: group.querySelector("rect"), label: group.querySelector("text"),
        name: group.dataset.n, begin: +group.dataset.a, end: +group.dataset.b, depth: +group.dataset.d,
    }));
    const details = document.getElementById("details"), found = document.getElementById("found"),
        reset = document.getElementById("reset");
    const tools = document.getElementById("tools"), box = document.getElementById("frames");
    const left = +svg.dataset.left, row = +svg.dataset.row, legendTop = +svg.dataset.legend,
        legendEnd = +svg.dataset.end;
    const height = svg.viewBox.baseVal.height, isDiff = "diff" in svg.dataset, letter = 6.6;
    const least = 0.1; // of a pixel, to be drawn
    const narrowest = 320; // pixels; in less room the picture is scaled
    let width = svg.viewBox.baseVal.width - 2 * left; // of the whole
    let zoomed = frames[0], chosen = null, words = "", typing = false;

    const title = (frame) => frame.group.querySelector("title").textContent;
    const inside = (frame, outer) => frame.begin >= outer.begin - 1e-12 && frame.end <= outer.end + 1e-12;

    const cut = (text, letters) => (text.length <= letters ? text : text.slice(0, Math.max(0, letters - 2)) + "..");

    // A frame's name, cut to the room, or with its share of the whole.
    function fit(frame, room) {
        const letters = Math.floor((room - 6) / letter);
        const share = " " + (100 * (frame.end - frame.begin)).toFixed(1) + " %";
        if (letters < 3) return "";
        return !isDiff && frame.name.length + share.length <= letters ? frame.name + share : cut(frame.name, letters);
    }

    // As much of a text as the window is wide; letters differ, so it is measured.
    function fitLine(line, text) {
        let letters = text.length;
        line.textContent = text;
        for (let wide = line.getComputedTextLength(); wide > width && letters > 3;
            wide = line.getComputedTextLength()) {
            letters = Math.min(letters - 1, Math.floor((letters * width) / wide));
            line.textContent = cut(text, letters);
        }
    }

    // A pixel of the picture is one of the window: what is wider is placed anew, and what is below moves down.
    function fitWindow() {
        const wide = Math.max(narrowest, Math.floor(svg.getBoundingClientRect().width));
        let x = left, y = legendTop;
        width = wide - 2 * left;
        for (const item of svg.querySelectorAll("g.k")) {
            if (x > left && x + +item.dataset.w > left + width) {
                x = left;
                y += row;
            }
            item.setAttribute("transform", `translate(${x} ${y})`);
            x += +item.dataset.w;
        }
        for (const line of svg.querySelectorAll("g.t")) fitLine(line.querySelector("text"), line.dataset.t);
        const down = y + row - legendEnd;
        for (const group of [tools, box]) group.setAttribute("transform", `translate(0 ${down})`);
        reset.setAttribute("x", left + width);
        svg.setAttribute("viewBox", `0 0 ${wide} ${height + down}`);
        search(words);
    }

    function draw() {
        const span = zoomed.end - zoomed.begin;
        for (const frame of frames) {
            const above = frame.depth >= zoomed.depth, below = !above && inside(zoomed, frame);
            const begin = below ? 0 : (frame.begin - zoomed.begin) / span, end = below ? 1
                : (frame.end - zoomed.begin) / span;
            const room = (end - begin) * width;
            const shown = (below || (above && inside(frame, zoomed))) && room >= least;
            frame.group.style.display = shown ? "" : "none";
            if (!shown) continue;
            frame.group.classList.toggle("below", below);
            frame.rect.setAttribute("x", left + begin * width);
            frame.rect.setAttribute("width", room);
            frame.label.setAttribute("x", left + begin * width + 3);
            frame.label.textContent = fit(frame, room);
        }
        reset.style.display = zoomed === frames[0] && !words ? "none" : "";
    }

    function zoom(frame) {
        zoomed = frame;
        draw();
    }

    // Of frames inside each other the outermost alone counts: the share is that of the time in which any of them was
    // there.
    function search(text) {
        words = text;
        const wanted = text.toLowerCase();
        let sum = 0, end = -1;
        for (const frame of frames) frame.group.classList.toggle("hit", wanted !== "" && frame.name.toLowerCase()
            .includes(wanted));
        const hits = frames.filter((frame) => frame.group.classList.contains("hit")).sort((a, b) => a.begin - b.begin
            || b.end - a.end);
        for (const hit of hits) {
            if (hit.end <= end) continue;
            sum += hit.end - Math.max(hit.begin, end);
            end = hit.end;
        }
        const share = words ? "  " + (100 * sum).toFixed(2) + " % in " + hits.length + " frames" : "";
        const room = Math.floor(width / letter) - 22 - share.length; // beside reset
        const shown = words.length > room ? ".." + words.slice(-Math.max(1, room)) : words;
        found.textContent = typing || words ? "search: " + shown + (typing ? "_" : "") + share : "search (/)";
        draw();
    }

    function choose(frame) {
        if (!frame) return;
        if (chosen) chosen.group.classList.remove("chosen");
        chosen = frame;
        frame.group.classList.add("chosen");
        tell(frame);
    }

    function tell(frame) {
        details.textContent = frame ? cut(title(frame), Math.floor(width / letter)) : "";
    }

    // The widest frame on top of this one; its caller; its neighbours.
    function next(key) {
        const from = chosen || zoomed;
        const seen = frames.filter((frame) => frame.group.style.display !== "none");
        if (key === "ArrowUp") return seen.filter((frame) => frame.depth === from.depth + 1 && inside(frame, from))
            .sort((a, b) => b.end - b.begin - a.end + a.begin)[0];
        if (key === "ArrowDown") return seen.find((frame) => frame.depth === from.depth - 1 && inside(from, frame));
        const row = seen.filter((frame) => frame.depth === from.depth).sort((a, b) => a.begin - b.begin);
        return row[row.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
    }

    function type(event) {
        if (event.key === "Enter") typing = false;
        else if (event.key === "Escape") { typing = false; words = ""; }
        else if (event.key === "Backspace") words = words.slice(0, -1);
        else if (event.key.length === 1) words += event.key;
        else return;
        event.preventDefault();
        search(words);
    }

    function startOver() {
        typing = false;
        if (chosen) chosen.group.classList.remove("chosen");
        chosen = null;
        tell(null);
        search("");
        zoom(frames[0]);
    }

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (typing) return type(event);
        if (event.key === "/") { typing = true; search(""); }
        else if (event.key === "Escape") startOver();
        else if (event.key === "Enter" && chosen) zoom(chosen);
        else if (event.key === "Backspace") zoom(frames.find((frame) => frame.depth === zoomed.depth - 1
            && inside(zoomed, frame)) || frames[0]);
        else if (event.key.startsWith("Arrow")) choose(next(event.key));
        else return;
        event.preventDefault();
    });
    for (const frame of frames) {
        frame.group.addEventListener("click", () => { choose(frame); zoom(frame); });
        frame.group.addEventListener("mouseenter", () => tell(frame));
        frame.group.addEventListener("mouseleave", () => tell(chosen));
    }
    found.addEventListener("click", () => { typing = true; search(words); });
    reset.addEventListener("click", startOver);
    addEventListener("resize", fitWindow);
    fitWindow();
})();
