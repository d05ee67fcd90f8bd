import { bytesToHex } from "@noble/hashes/utils.js";
import { Curve } from "../../client/sdk/names.ts";
import { NETWORK_NAMES } from "../../service/config/network.ts";
import { command } from "../command-line/command.ts";
import {
  choiceOf,
  flag,
  fullnodeUrl,
  hash,
  nonEmptyText,
  objectId,
  optional,
  repeated,
} from "../command-line/option.ts";

export const recoverCommand = command({
  summary:
    "find a seed's dWallets, and recover a user's share from the seed or from pieces, without the service",
  details:
    "Reads only a fullnode. Without --dwallet, it lists the dWallets in the Treasury whose encrypted share\n" +
    "is held under the seed's keys. With --dwallet, it writes the share in hex to a new file, mode 0600:\n" +
    "protect it like the seed. Neither the seed nor the share is printed. A dWallet that has left the\n" +
    "Treasury is not listed, but its share can be recovered by its id. If the fullnode has pruned the DKG's\n" +
    "transaction, give the sessionDigestHex of the onboarding as --session-digest.\n\n" +
    "With pieces of a recovery instead of a seed, it joins them, and proves on the chain that they give the\n" +
    "share of the dWallet that they name. --out and --seed-out write the share and the recovery's seed; without\n" +
    "them nothing is written, which is a drill. A piece is never an argument: give files, or type the pieces.",
  options: {
    seedFile: optional("<file>", "the file with the seed: 64 hex digits, mode 0600", nonEmptyText),
    pieceFile: repeated(
      "<file>",
      "a file with one piece of a recovery, mode 0600; once for each piece",
      nonEmptyText,
    ),
    askPieces: flag("ask for the pieces on the terminal, which does not show them"),
    network: optional("<network>", "the network; default the one of NETWORKS", choiceOf(NETWORK_NAMES)),
    fullnodeUrl: optional(
      "<url>",
      "the fullnode; default the configured one, else Sui's public one",
      fullnodeUrl,
    ),
    treasury: optional("<id>", "the Treasury to search; default the configured one", objectId),
    curve: optional("<curve>", "the dWallet's curve; lists those of all curves by default", curve),
    dwallet: optional("<id>", "recover the share of this dWallet; pieces must be for it", objectId),
    out: optional("<file>", "write the share to this new file", nonEmptyText),
    seedOut: optional("<file>", "write the seed that the pieces give to this new file", nonEmptyText),
    sessionDigest: optional(
      "<digest>",
      "the DKG's session digest, 64 hex digits; default the chain's",
      digest,
    ),
    json: flag("print a JSON object"),
  },
  run: async (values, context) => (await import("../recover.ts")).recover(values, context),
});

function curve(value: string): Curve {
  return choiceOf(Object.values(Curve))(value);
}

function digest(value: string): string {
  return bytesToHex(hash(value));
}
