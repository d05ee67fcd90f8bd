import type { ConfigVariable } from "../src/service/config/variables/config-variable.ts";
import { SIGNER_VARIABLES } from "../src/service/config/variables/signer-variables.ts";
import { CONFIG_VARIABLES } from "../src/service/config/variables.ts";

/** Prints a table of configuration variables as an environment file: each with its meaning and its default. */
export function envExample({ variables, head }: EnvironmentFile): string {
  return head + variables.map(describe).join("\n");
}

/** A process and its environment. */
export interface EnvironmentFile {
  readonly variables: readonly ConfigVariable[];
  /** The comment at its top. */
  readonly head: string;
}

/** `.env.example`. */
export const SERVICE_ENVIRONMENT: EnvironmentFile = {
  variables: CONFIG_VARIABLES,
  head: `# Generated from src/service/config/variables.ts by \`npm run generate\`. Do not edit.
#
# Nothing here needs to be set: the default is a service with an embedded database and a local network.
# To use it, copy it to .env, set what you need, and start with:  set -a; . ./.env; set +a; npm start
# A secret may also be given as the path of a file that holds it, in a variable of the same name that ends in _FILE.
# "Each network" says that a variable of the same name that ends in _TESTNET or _MAINNET overrides it on that network.

`,
};

/** `signer.env.example`. */
export const SIGNER_ENVIRONMENT: EnvironmentFile = {
  variables: SIGNER_VARIABLES,
  head: `# Generated from src/service/config/variables/signer-variables.ts by \`npm run generate\`. Do not edit.
#
# Every setting of \`tss signer\`; docs/signer.md explains them. Beside a service on its defaults, only
# SIGNER_PASSPHRASE_FILE is needed where there is no terminal. For another service, set SIGNER_SERVICE_URL,
# SIGNER_API_KEY_FILE and SIGNER_NETWORK.
# To use it, copy it to signer.env, set what you need, and start with:  set -a; . ./signer.env; set +a; tss signer serve
# Docker takes it as --env-file, and systemd as EnvironmentFile.
# A variable marked "Secret" is for platforms that have no files of secrets. Elsewhere use the one that ends in _FILE.

`,
};

function describe(variable: ConfigVariable): string {
  const { name, default: value = "", description, secret, perNetwork, uselessIn } = variable;
  const useless = uselessIn && ` Not for PROCESS_TYPE=${uselessIn}, which ignores it.`;
  const marks = [secret && " Secret.", perNetwork && " Each network.", useless].filter(Boolean).join("");
  return `# ${description}.${marks}\n# ${name}=${value}\n`;
}
