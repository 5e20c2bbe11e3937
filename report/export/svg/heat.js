// heat.js - the numbers of a heat map's cell, below the map while the pointer is on it. Part of the SVG that heatmap.c
// writes, which is whole without it.
//
// Each map is a group of the class map, drawn in units of a cell from the top left. data-begin and data-end are its
// time in seconds, data-bounds the latencies between its rows, from the lowest on, and data-cells the packets: of each
// column "row packets row packets", with semicolons between columns.
"use strict";
(function () {
    const count = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

    function percent(part, whole) {
        const share = (100 * part) / whole;
        return share > 0 && share < 0.01 ? "<0.01 %" : share.toFixed(2) + " %";
    }

    function read(group) {
        const {begin, end, bounds, cells} = group.dataset;
        const columns = cells.split(";").map((column) => {
            const numbers = column ? column.split(" ").map(Number) : [];
            const rows = new Map();
            for (let i = 0; i < numbers.length; i += 2) rows.set(numbers[i], numbers[i + 1]);
            return rows;
        });
        let all = 0;
        for (const rows of columns) for (const packets of rows.values()) all += packets;
        return {group, columns, all, begin: +begin, end: +end, bounds: bounds.split(";")};
    }

    function text(map, x, y) {
        const {columns, bounds, begin, end} = map;
        const row = bounds.length - 2 - y, packets = columns[x].get(row) || 0;
        const at = (column) => (begin + ((end - begin) * column) / columns.length).toFixed(6);
        const n = `${count(packets)} packet${packets === 1 ? "" : "s"} (${percent(packets, map.all)})`;
        return `${n}, ${bounds[row]} to ${bounds[row + 1]} late, ${at(x)} to ${at(x + 1)} s`;
    }

    for (const group of document.querySelectorAll("g.map")) {
        const map = read(group), line = group.parentNode.querySelector("text.at"), rest = line.textContent;
        const plot = group.parentNode.querySelector("rect.plot");
        plot.addEventListener("pointermove", (event) => {
            const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(group.getScreenCTM().inverse());
            const x = Math.floor(point.x), y = Math.floor(point.y);
            const isInside = x >= 0 && x < map.columns.length && y >= 0 && y < map.bounds.length - 1;
            line.textContent = isInside ? text(map, x, y) : rest;
        });
        plot.addEventListener("pointerleave", () => (line.textContent = rest));
    }
})();
