// Icons, drawn with lines on a grid of 24; they take the colour of the text around them.
import { html, svg, type TemplateResult } from "lit";

const PATHS = {
  globe: svg`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18"/>`,
  flat: svg`<path d="M3 6l6-2 6 2 6-2v14l-6 2-6-2-6 2zM9 4v14M15 6v14"/>`,
  sun: svg`<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5"/>`,
  moon: svg`<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  minus: svg`<path d="M5 12h14"/>`,
  search: svg`<circle cx="11" cy="11" r="6.5"/><path d="M16 16l4.5 4.5"/>`,
  pencil: svg`<path d="M4 20l1-4L16 5l3 3L8 19z"/>`,
  pause: svg`<path d="M8 5v14M16 5v14"/>`,
  play: svg`<path d="M7 4.5v15l12-7.5z"/>`,
  trash: svg`<path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13"/>`,
  back: svg`<path d="M15 5l-7 7 7 7"/>`,
  close: svg`<path d="M6 6l12 12M18 6L6 18"/>`,
  bell: svg`<path d="M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5a2 2 0 0 0 4 0"/>`,
  send: svg`<path d="M4 12l16-8-6 16-3-6z"/>`,
  pin: svg`<path d="M12 21s7-6.2 7-11.5a7 7 0 0 0-14 0C5 14.8 12 21 12 21z"/><circle cx="12" cy="9.5" r="2.5"/>`,
  layers: svg`<path d="M12 4l9 5-9 5-9-5zM3 14l9 5 9-5"/>`,
  out: svg`<path d="M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9"/>`,
  point: svg`<circle cx="12" cy="12" r="4" fill="currentColor"/>`,
  linestring: svg`<path d="M4 18l6-9 5 5 5-8"/>`,
  polygon: svg`<path d="M5 9l7-5 7 6-3 9H8z"/>`,
  rectangle: svg`<rect x="4" y="6" width="16" height="12" rx="1"/>`,
  circle: svg`<circle cx="12" cy="12" r="8"/>`,
} as const;

type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${PATHS[name]}</svg>`;
}
