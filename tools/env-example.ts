import type { ConfigVariable } from "../src/service/config/config-variable.ts";

/** Prints the table of configuration variables as `.env.example`: each with its meaning and its default. */
export function envExample(variables: readonly ConfigVariable[]): string {
  return HEAD + variables.map(describe).join("\n");
}

const HEAD = `# Generated from src/service/config/variables.ts by \`npm run generate\`. Do not edit.
#
# Nothing here needs to be set: the default is a service with an embedded database and a local network.
# To use it, copy it to .env, set what you need, and start with:  set -a; . ./.env; set +a; npm start
# A secret may also be given as the path of a file that holds it, in a variable of the same name that ends in _FILE.
# "Each network" says that a variable of the same name that ends in _TESTNET or _MAINNET overrides it on that network.

`;

function describe(variable: ConfigVariable): string {
  const { name, default: value = "", description, secret, perNetwork, uselessIn } = variable;
  const useless = uselessIn && ` Not for PROCESS_TYPE=${uselessIn}, which ignores it.`;
  const marks = [secret && " Secret.", perNetwork && " Each network.", useless].filter(Boolean).join("");
  return `# ${description}.${marks}\n# ${name}=${value}\n`;
}
