/** The console's entry: an operator's and a project's pages over the service's own contract. */
import { render } from "preact";
import { ConsoleApp } from "./console-app.tsx";

render(<ConsoleApp />, document.getElementById("app")!);
