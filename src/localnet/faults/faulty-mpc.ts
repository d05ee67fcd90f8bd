import type { MpcOutcome, NetworkMpc } from "../mpc/engine.ts";
import type { SessionName } from "./fault-settings.ts";
import type { Faults } from "./faults.ts";

/** Wraps the network's cryptography with delays, rejections, pauses and wrong signatures. */
export function faultyMpc(mpc: NetworkMpc, faults: Faults): NetworkMpc {
  let resume: (() => void)[] = [];
  faults.onChange(() => {
    if (faults.settings.paused) return;
    for (const go of resume.splice(0)) go();
  });

  return {
    networkDkgPublicOutput: () => mpc.networkDkgPublicOutput(),
    networkReconfigurationPublicOutput: (epoch) => mpc.networkReconfigurationPublicOutput(epoch),
    dkg: (input) => session("dkg", () => mpc.dkg(input)),
    presign: (input) => session("presign", () => mpc.presign(input)),
    sign: (input) => session("sign", async () => corrupted(await mpc.sign(input))),
    close() {
      resume = [];
      return mpc.close();
    },
  };

  async function session(name: SessionName, work: () => Promise<MpcOutcome>): Promise<MpcOutcome> {
    while (faults.settings.paused) await new Promise<void>((go) => void resume.push(go));
    const { completionDelayMs, completionJitterMs, rejectSessions } = faults.settings;
    const delayMs = faults.duration(completionDelayMs, completionJitterMs);
    if (delayMs > 0) await faults.pause(delayMs);
    if (faults.happens(rejectSessions[name] ?? 0)) return { kind: "rejected", reason: "an injected fault" };
    return work();
  }

  function corrupted(outcome: MpcOutcome): MpcOutcome {
    if (outcome.kind === "rejected" || !faults.happens(faults.settings.corruptSignature)) return outcome;
    const output = outcome.output.slice();
    const middle = output.length >> 1;
    output[middle] = (output[middle] ?? 0) ^ 1;
    return { kind: "completed", output };
  }
}
