// flame.js - what a flame graph of nettape-report does: zoom, search, keys. Part of the SVG that flame_svg.c writes; it
// works on what that has drawn, and needs nothing from elsewhere.
//
// Each frame is a <g class="f"> with data-a and data-b, where it begins and ends as a part of the whole, and data-d, its depth.
"use strict";
(function () {
    const svg = document.documentElement;
    const frames = Array.from(svg.querySelectorAll("g.f"), (group) => ({
        group, rect: group.querySelector("rect"), label: group.querySelector("text"),
        name: group.dataset.n, begin: +group.dataset.a, end: +group.dataset.b, depth: +group.dataset.d,
    }));
    const details = document.getElementById("details"), found = document.getElementById("found"), reset = document.getElementById("reset");
    const left = +svg.dataset.left, width = +svg.dataset.width, letter = 6.6;
    const least = 0.1; // of a pixel, to be drawn
    let zoomed = frames[0], chosen = null, words = "", typing = false;

    const title = (frame) => frame.group.querySelector("title").textContent;
    const inside = (frame, outer) => frame.begin >= outer.begin - 1e-12 && frame.end <= outer.end + 1e-12;

    function fit(frame, room) {
        const letters = Math.floor((room - 4) / letter);
        if (letters < 3) return "";
        return frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 2) + "..";
    }

    function draw() {
        const span = zoomed.end - zoomed.begin;
        for (const frame of frames) {
            const above = frame.depth >= zoomed.depth, below = !above && inside(zoomed, frame);
            const begin = below ? 0 : (frame.begin - zoomed.begin) / span, end = below ? 1 : (frame.end - zoomed.begin) / span;
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

    // Of frames inside each other the outermost alone counts: the share is that of the time in which any of them was there.
    function search(text) {
        words = text;
        const wanted = text.toLowerCase();
        let sum = 0, end = -1;
        for (const frame of frames) frame.group.classList.toggle("hit", wanted !== "" && frame.name.toLowerCase().includes(wanted));
        const hits = frames.filter((frame) => frame.group.classList.contains("hit")).sort((a, b) => a.begin - b.begin || b.end - a.end);
        for (const hit of hits) {
            if (hit.end <= end) continue;
            sum += hit.end - Math.max(hit.begin, end);
            end = hit.end;
        }
        found.textContent = typing || words ? "search: " + words + (typing ? "_" : "") +
            (words ? "  " + (100 * sum).toFixed(2) + " % in " + hits.length + " frames" : "") : "search (/)";
        draw();
    }

    function choose(frame) {
        if (!frame) return;
        if (chosen) chosen.group.classList.remove("chosen");
        chosen = frame;
        frame.group.classList.add("chosen");
        details.textContent = title(frame);
    }

    // The widest frame on top of this one; its caller; its neighbours.
    function next(key) {
        const from = chosen || zoomed;
        const seen = frames.filter((frame) => frame.group.style.display !== "none");
        if (key === "ArrowUp") return seen.filter((frame) => frame.depth === from.depth + 1 && inside(frame, from)).sort((a, b) => b.end - b.begin - a.end + a.begin)[0];
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
        details.textContent = "";
        search("");
        zoom(frames[0]);
    }

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (typing) return type(event);
        if (event.key === "/") { typing = true; search(""); }
        else if (event.key === "Escape") startOver();
        else if (event.key === "Enter" && chosen) zoom(chosen);
        else if (event.key === "Backspace") zoom(frames.find((frame) => frame.depth === zoomed.depth - 1 && inside(zoomed, frame)) || frames[0]);
        else if (event.key.startsWith("Arrow")) choose(next(event.key));
        else return;
        event.preventDefault();
    });
    for (const frame of frames) {
        frame.group.addEventListener("click", () => { choose(frame); zoom(frame); });
        frame.group.addEventListener("mouseenter", () => { details.textContent = title(frame); });
        frame.group.addEventListener("mouseleave", () => { details.textContent = chosen ? title(chosen) : ""; });
    }
    found.addEventListener("click", () => { typing = true; search(words); });
    reset.addEventListener("click", startOver);
    search("");
})();
