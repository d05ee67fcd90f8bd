import { optional } from "../../option.ts";
import { choiceOf } from "../../option-values.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";

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
