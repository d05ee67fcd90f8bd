import { UsageError } from "../../command-line/command.ts";
import { choiceOf, defaulted, optional, required } from "../../command-line/option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { coins, fullAddress } from "../../treasury/change-options.ts";

export const pauseCommand = changeCommand({
  summary: "stop all payments of the Treasury at once; users can still leave",
  options: {
    as: optional(
      "<role>",
      "pauser or admin; default the pauser if there is one",
      choiceOf(["pauser", "admin"]),
    ),
  },
  plan({ as }, { treasury }) {
    const role = as ?? (treasury.pauser === undefined ? "admin" : "pauser");
    const next = () => [
      "The administrator ends the pause with `tss treasury unpause`. Queued operations wait until then.",
    ];
    return role === "pauser"
      ? { caller: "pauser", add: (call) => call("pause", {}), next }
      : { caller: "admin", add: (call) => call("set_paused", { paused: true }), next };
  },
});

export const unpauseCommand = changeCommand({
  summary: "let the Treasury pay again",
  options: {},
  plan: () => oneCall("set_paused", { paused: false }),
});

export const drainCommand = changeCommand({
  summary: "take IKA and SUI out of the Treasury",
  options: {
    to: required("<address>", "who receives the coins", fullAddress),
    ika: defaulted("<ika>", "how much IKA", coins, "0"),
    sui: defaulted("<sui>", "how much SUI", coins, "0"),
  },
  plan({ to, ika, sui }) {
    if (ika === 0n && sui === 0n) throw new UsageError("--ika or --sui is missing");
    return oneCall("drain", { ika, sui, to });
  },
});
