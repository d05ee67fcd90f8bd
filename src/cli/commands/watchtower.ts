import { command } from "../command-line/command.ts";
import {
  choiceOf,
  count,
  defaulted,
  duration,
  httpUrl,
  nonEmptyText,
  objectId,
  optional,
  required,
  rowNumber,
  texts,
} from "../command-line/option.ts";

const NETWORKS = ["localnet", "testnet", "mainnet"] as const;

export const watchtowerCommand = command({
  summary: "follow the chain and tell of signatures and exits of your dWallets that your own log lacks",
  details:
    "It has no secret of a dWallet. Run it where neither the service nor the signer can stop it.\n" +
    "docs/watchtower.md has the form of the log and of the alerts.",
  options: {
    network: required("<name>", "localnet, testnet or mainnet", choiceOf(NETWORKS)),
    fullnodes: required(
      "<file>",
      "a file with the URLs of fullnodes, one a line; with two, an event that one hides is noticed",
      nonEmptyText,
    ),
    dwallets: optional("<file>", "a file with the ids of the dWallets, one a line", nonEmptyText),
    service: optional("<url>", "the service, to watch the project's dWallets too", httpUrl),
    apiKeyFile: optional("<file>", "a file with an API key with the scope read, for --service", nonEmptyText),
    treasury: optional("<id>", "the Treasury, to tell of announced releases and exits", objectId),
    ikaPackage: optional("<id>", "the first package of Ika's coordinator, on a localnet", objectId),
    log: optional("<files>", "the files of your log, separated by commas", texts),
    state: defaulted("<file>", "the file that it remembers its place in", nonEmptyText, "watchtower.json"),
    from: optional("<checkpoint>", "begin here if there is no state; default with the next one", rowNumber),
    webhook: optional("<url>", "the receiver of alerts", httpUrl),
    secretFile: optional("<file>", "a file with 64 random hex digits that sign the alerts", nonEmptyText),
    grace: optional("<time>", "how long a line of the log may be late; default 60s", duration(1)),
    metricsPort: optional("<port>", "serve metrics and health here, on 127.0.0.1", count(1, 65_535)),
  },
  run: async (values, context) => (await import("../run-watchtower.ts")).runWatchtower(values, context),
});
