// A user's page that uses the client's package. The test gives it options and reads `window.outcome`.
import { createClient } from "threshold-signing-client";
import { createWorkerEngine } from "threshold-signing-client/worker";

/** The workers' program is a part of the page, or a file that the page's site serves. */
const WAYS = {
  text: (options) => createWorkerEngine(options),
  file: (options) => createWorkerEngine({ ...options, programUrl: "/worker-program.js" }),
};

/** The outcome of a flow, in a form that can be passed to the test. */
async function outcomeOf(flow) {
  try {
    return { result: await flow() };
  } catch (error) {
    return { failure: `${error?.name} ${error?.reason ?? ""} ${error?.message} ${error?.cause ?? ""}` };
  }
}

/** Derives a key with the engine. The result says whether it fell back from the worker. */
window.deriveAddress = (way) =>
  outcomeOf(async () => {
    let fallback = "";
    const engine = WAYS[way]({ onFallback: (cause) => (fallback = String(cause)) });
    const { signerAddress } = await engine.deriveUserKeys({ curve: "ED25519", seed: new Uint8Array(32) });
    await engine.close();
    return { signerAddress, fallback };
  });

/** Onboards a dWallet and signs with it. */
window.onboardAndSign = (way, { access, seed, curve, message, ...algorithm }) =>
  outcomeOf(async () => {
    let fallback = "";
    const engine = WAYS[way]({ onFallback: (cause) => (fallback = String(cause)) });
    const client = createClient({ ...access, network: "localnet", engine });
    const onboarded = await client.onboard({ seed: Uint8Array.from(seed), curve });
    const { signature } = await client.sign({
      ...algorithm,
      seed: Uint8Array.from(seed),
      dwalletId: onboarded.dwallet.id,
      sessionDigestHex: onboarded.sessionDigestHex,
      curve,
      message: new TextEncoder().encode(message),
    });
    await engine.close();
    return { publicKeyHex: onboarded.publicKeyHex, signature: [...signature], fallback };
  });
