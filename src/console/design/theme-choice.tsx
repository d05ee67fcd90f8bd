import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { SelectField } from "./form/field.tsx";

/**
 * Chooses the system, light or dark theme. The browser keeps the choice, and nothing else of the console. Without
 * storage the choice lasts until a reload.
 */
export function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(chosen);
  return (
    <SelectField
      label="Theme"
      options={THEMES}
      value={theme}
      isInline
      onSelect={(wanted) => {
        setTheme(wanted);
        chosen = wanted;
        keep(wanted);
        applyTheme();
      }}
    />
  );
}

/** Gives the page the chosen theme, and tells the charts. Call it before the first render, so that no theme flashes. */
export function applyTheme(): void {
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
  dispatchEvent(new Event(THEME_CHANGE));
}

/** The window event that follows a choice. */
export const THEME_CHANGE = "themechange";

type Theme = "system" | "light" | "dark";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];
const STORED_THEME = "console-theme";
let chosen: Theme = kept();

function kept(): Theme {
  try {
    const stored = localStorage.getItem(STORED_THEME);
    return THEMES.find(([theme]) => theme === stored)?.[0] ?? "system";
  } catch {
    return "system";
  }
}

function keep(theme: Theme): void {
  try {
    if (theme === "system") localStorage.removeItem(STORED_THEME);
    else localStorage.setItem(STORED_THEME, theme);
  } catch {
    // A browser may forbid storage, or have none left.
  }
}
