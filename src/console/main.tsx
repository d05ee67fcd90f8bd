/** The console's entry: pages for operators and projects, which use only the service's contract. */
import { render } from "preact";
import { ConsoleApp } from "./console-app.tsx";
import { showControls } from "./design/form/show-controls.ts";
import { watchBack } from "./design/form/use-stay.ts";
import { applyTheme } from "./design/theme-choice.tsx";

showControls();
watchBack();
applyTheme();
render(<ConsoleApp />, document.getElementById("app")!);
