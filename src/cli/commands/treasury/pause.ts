import { optional } from "../../option.ts";
import { choiceOf } from "../../option-values.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";

/** `tss treasury pause`. */
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
      "`tss treasury unpause` of the administrator ends the pause. Queued operations wait.",
    ];
    return role === "pauser"
      ? { caller: "pauser", add: (call) => call("pause", {}), next }
      : { caller: "admin", add: (call) => call("set_paused", { paused: true }), next };
  },
});

/** `tss treasury unpause`. */
export const unpauseCommand = changeCommand({
  summary: "let the Treasury pay again",
  options: {},
  plan: () => oneCall("set_paused", { paused: false }),
});
