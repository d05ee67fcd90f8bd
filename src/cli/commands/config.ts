import { readConfig } from "../../service/config/config.ts";
import { command, EXIT } from "../command-line/command.ts";
import { flag } from "../command-line/option.ts";
import { toJson, toText } from "../describe-config.ts";

export const configCommand = command({
  summary: "print every setting, its value (secrets redacted) and its source, and every error",
  details: "Exits with 1 if there is an error.",
  options: { json: flag("print a JSON object") },
  async run({ json }, { environment, print }) {
    const reading = readConfig(environment);
    print(json ? toJson(reading) : toText(reading));
    return reading.faults.length > 0 ? EXIT.failed : EXIT.done;
  },
});
