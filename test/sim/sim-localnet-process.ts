import { startLocalnet } from "../../src/localnet/localnet.ts";
import { createSimMpc } from "./sim-mpc.ts";

/** Runs a localnet with cheap cryptography in its own process. Reports its URL, and ends with its parent. */
const localnet = await startLocalnet({ mpc: createSimMpc(), faults: { completionDelayMs: 200 } });
const { url, hotWalletAddress, networkEncryptionKeyId } = localnet;
process.on("disconnect", () => process.exit());
process.send?.({ url, hotWalletAddress, networkEncryptionKeyId });
