import type { JSX } from "preact";

/** A decorative line icon in the size of the text. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Paths on a grid of 16 by 16. */
const PATHS = {
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  alert: "M8 2 14.5 13.5h-13L8 2zM8 6.5v3.2M8 11.6v.2",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.2 1.6",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  external: "M9 2.5h4.5V7M13.5 2.5 7.5 8.5M6 3.5H2.5v10h10V10",
  next: "M6 3.5 10.5 8 6 12.5",
  previous: "M10 3.5 5.5 8 10 12.5",
  up: "M3.5 10 8 5.5 12.5 10",
  down: "M3.5 6 8 10.5 12.5 6",
  filter: "M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.4V8.6z",
  columns: "M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9",
  person:
    "M8 2.5a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5zM2.8 13.8c.5-2.6 2.6-3.8 5.2-3.8s4.7 1.2 5.2 3.8",
  save: "M8 2.5v7.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  reload: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14",
  circle: "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
} as const;

export type IconName = keyof typeof PATHS;
