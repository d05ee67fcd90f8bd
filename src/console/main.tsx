/** The console's entry: pages for operators and projects, which use only the service's contract. */
import { render } from "preact";
import { ConsoleApp } from "./console-app.tsx";
import { showControls } from "./ui/show-controls.ts";
import { applyTheme } from "./ui/theme-choice.tsx";

showControls();
applyTheme();
render(<ConsoleApp />, document.getElementById("app")!);
