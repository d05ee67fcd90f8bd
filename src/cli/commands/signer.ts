import { command } from "../command.ts";
import { nonEmptyText, required } from "../option.ts";

export const signerCommands = {
  create: command({
    summary: "create the encrypted file of a signer's keys",
    details:
      "The file is SIGNER_STORE. Its passphrase is in SIGNER_PASSPHRASE_FILE, or asked on the terminal.\n" +
      "Whoever loses the file or its passphrase loses every key in it for good: nobody else has the seeds.",
    options: {},
    run: async (_, context) => (await import("../signer/key-file-commands.ts")).createStore(context),
  }),
  serve: command({
    summary:
      "make keys and sign for a backend on this machine; run it beside the backend, never at the operator's",
    details: "docs/signer.md lists the variables that it reads.",
    options: {},
    run: async (_, context) => (await import("../signer/serve-signer.ts")).serveSigner(context),
  }),
  backup: command({
    summary: "write a checked copy of the key file, also while the signer runs",
    details: "The copy has the same passphrase. It lacks the keys that are made later.",
    options: { out: required("<file>", "the new file of the copy", nonEmptyText) },
    run: async ({ out }, context) =>
      (await import("../signer/key-file-commands.ts")).backUpStore(out, context),
  }),
  restore: command({
    summary: "make the key file from a copy, if there is none",
    details: "It overwrites no file. Keys that were made after the copy are not in it.",
    options: { from: required("<file>", "the copy", nonEmptyText) },
    run: async ({ from }, context) =>
      (await import("../signer/key-file-commands.ts")).restoreStore(from, context),
  }),
};
