import { startLocalnet } from "../../../src/localnet/localnet.ts";
import { createCheapMpc } from "./cheap-mpc.ts";

/** A localnet with a cheap MPC in a process of its own, for tests that kill it. Prints its URL, then a line per second. */
const net = await startLocalnet({ mpc: createCheapMpc(), dataDirectory: process.argv[2] as string });
process.stdout.write(`${net.url}\n`);
setInterval(() => process.stdout.write(".\n"), 20);
