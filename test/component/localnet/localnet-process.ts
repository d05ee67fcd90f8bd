import { startLocalnet } from "../../../src/localnet/localnet.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";

/**
 * A localnet in its own process: `<data folder> [real]`, with a cheap MPC unless `real` is given. Prints a line of JSON
 * with its addresses, then a dot repeatedly as long as it runs.
 */
const [dataDirectory, kind] = process.argv.slice(2);
const net = await startLocalnet({
  dataDirectory: dataDirectory as string,
  ...(kind === "real" ? {} : { mpc: createCheapMpc() }),
});
const { url, ikaConfig, ikaCoinType } = net;
process.stdout.write(`${JSON.stringify({ url, ikaConfig, ikaCoinType })}\n`);
setInterval(() => process.stdout.write(".\n"), 20);
