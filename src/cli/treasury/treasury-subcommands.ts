import { treasuryHalvesCommand } from "../commands/treasury/halves.ts";
import { fundCommand, initCommand } from "../commands/treasury/init.ts";
import { multisigCommand } from "../commands/treasury/multisig.ts";
import {
  mintOperatorCommand,
  renewOperatorCommand,
  revokeOperatorCommand,
} from "../commands/treasury/operators.ts";
import { drainCommand, pauseCommand, unpauseCommand } from "../commands/treasury/pause.ts";
import { publishCommand } from "../commands/treasury/publish.ts";
import { rehearseExitCommand } from "../commands/treasury/rehearse-exit.ts";
import {
  announceReleaseCommand,
  exitCommand,
  refuseCommand,
  releaseCommand,
  withdrawReleaseCommand,
} from "../commands/treasury/releases.ts";
import { rotateAdminCommand, setRolesCommand } from "../commands/treasury/roles.ts";
import { setCeilingCommand } from "../commands/treasury/set-ceiling.ts";
import { treasuryStatusCommand } from "../commands/treasury/status.ts";
import { signCommand, submitCommand } from "../commands/treasury/submit.ts";
import {
  announceSuccessorCommand,
  migrateTreasuryCommand,
  moveCommand,
  takeInCommand,
  withdrawSuccessorCommand,
} from "../commands/treasury/successor.ts";

/** The subcommands of `tss treasury`, which need only a fullnode, in the order of the help. */
export const TREASURY_SUBCOMMANDS = {
  status: treasuryStatusCommand,
  halves: treasuryHalvesCommand,
  publish: publishCommand,
  init: initCommand,
  fund: fundCommand,
  "mint-operator": mintOperatorCommand,
  "renew-operator": renewOperatorCommand,
  "revoke-operator": revokeOperatorCommand,
  "set-ceiling": setCeilingCommand,
  pause: pauseCommand,
  unpause: unpauseCommand,
  drain: drainCommand,
  "set-roles": setRolesCommand,
  "rotate-admin": rotateAdminCommand,
  "announce-release": announceReleaseCommand,
  "withdraw-release": withdrawReleaseCommand,
  release: releaseCommand,
  "announce-successor": announceSuccessorCommand,
  "withdraw-successor": withdrawSuccessorCommand,
  move: moveCommand,
  "take-in": takeInCommand,
  migrate: migrateTreasuryCommand,
  exit: exitCommand,
  "rehearse-exit": rehearseExitCommand,
  refuse: refuseCommand,
  multisig: multisigCommand,
  sign: signCommand,
  submit: submitCommand,
};
