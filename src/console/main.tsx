/** The console's entry: pages for operators and projects, which use only the service's contract. */
import { render } from "preact";
import { ConsoleApp } from "./console-app.tsx";

render(<ConsoleApp />, document.getElementById("app")!);
