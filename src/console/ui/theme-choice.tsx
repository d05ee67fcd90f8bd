import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SelectField } from "./field.tsx";

/** Chooses the system, light or dark theme. Only the tab's memory keeps the choice, as all state of the console. */
export function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(chosen);
  useEffect(() => {
    chosen = theme;
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    dispatchEvent(new Event(THEME_CHANGE));
  }, [theme]);
  return (
    <SelectField
      label="Theme"
      options={THEMES}
      value={theme}
      isInline
      onSelect={(wanted) => setTheme(wanted)}
    />
  );
}

/** The window event that follows a choice. */
export const THEME_CHANGE = "themechange";

type Theme = "system" | "light" | "dark";
let chosen: Theme = "system";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];
