import { command } from "../command-line/command.ts";
import { defaulted, flag, nonEmptyText, optional } from "../command-line/option.ts";

export const demoCommand = command({
  summary: "start a service in a temporary folder, create a key, sign and verify",
  details: "If you omit an option, the demo picks the first value that works with the options you set.",
  options: {
    curve: optional("<curve>", "SECP256K1, SECP256R1, ED25519 or RISTRETTO", nonEmptyText),
    algorithm: optional(
      "<name>",
      "ECDSASecp256k1, Taproot, ECDSASecp256r1, EdDSA or Schnorrkel",
      nonEmptyText,
    ),
    hash: optional("<name>", "KECCAK256, SHA256, DoubleSHA256, SHA512 or Merlin", nonEmptyText),
    message: defaulted("<text>", "the message to sign", (value) => value, "First light"),
    json: flag("print the report as JSON, on the last line"),
  },
  run: async (values) => (await import("../demo/demo.ts")).runDemo(values),
});
