import { startLocalnet } from "../../../src/localnet/localnet.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";

/**
 * A localnet in a process of its own: `<data folder> [real]`, with a cheap MPC unless `real` is asked for. Prints one
 * line of JSON that says how to reach it, then a dot again and again while it lives.
 */
const [dataDirectory, kind] = process.argv.slice(2);
const net = await startLocalnet({
  dataDirectory: dataDirectory as string,
  ...(kind === "real" ? {} : { mpc: createCheapMpc() }),
});
const { url, ikaConfig, ikaCoinType } = net;
process.stdout.write(`${JSON.stringify({ url, ikaConfig, ikaCoinType })}\n`);
setInterval(() => process.stdout.write(".\n"), 20);
