import { NETWORK_NAMES } from "../../service/config/network.ts";
import { command } from "../command-line/command.ts";
import { choiceOf, flag, fullnodeUrl, nonEmptyText, optional } from "../command-line/option.ts";
import { explainKeys } from "../connections/service-command.ts";

export const tryCommand = command({
  summary: "create a key and sign once with each algorithm on a running service, and report each stage",
  details:
    "For the first day on a network. It spends the project's credit: one dWallet for each curve,\n" +
    "and one signature for each combination of curve, algorithm and hash. Each stage shows what was\n" +
    "expected and seen, its time, and its cost. If one fails, the others continue, and a file for a\n" +
    "report is written: versions, ids, digests, types of objects and events, and no secret.\n" +
    "Omitted algorithm options include every combination. Exits with 1 if a stage fails.\n" +
    explainKeys({ caller: "project", isDirect: false }),
  options: {
    url: optional(
      "<url>",
      "the running service; default TSS_URL, or the quick start on DATA_DIR",
      nonEmptyText,
    ),
    network: optional("<network>", "the network; default the quick start's", choiceOf(NETWORK_NAMES)),
    fullnode: optional(
      "<url>",
      "the fullnode to read; default Sui's public one, or the localnet",
      fullnodeUrl,
    ),
    curve: optional("<curve>", "only this curve", nonEmptyText),
    algorithm: optional("<name>", "only this signature algorithm", nonEmptyText),
    hash: optional("<name>", "only this hash", nonEmptyText),
    reference: flag("compute the user's halves with Ika's WebAssembly instead of this package's engine"),
    bundle: optional("<file>", "where to write the file for a report; default in this folder", nonEmptyText),
    json: flag("print the file's contents instead of the table"),
  },
  run: async (values, context) => (await import("../demo/try-network.ts")).runTry(values, context),
});
