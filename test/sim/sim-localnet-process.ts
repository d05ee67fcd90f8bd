import { startLocalnet } from "../../src/localnet/localnet.ts";
import { createSimMpc } from "./sim-mpc.ts";

/** A localnet in a process of its own, whose cryptography costs nothing. Says where it is; ends with its parent. */
const localnet = await startLocalnet({ mpc: createSimMpc(), faults: { completionDelayMs: 200 } });
const { url, hotWalletAddress, networkEncryptionKeyId } = localnet;
process.on("disconnect", () => process.exit());
process.send?.({ url, hotWalletAddress, networkEncryptionKeyId });
