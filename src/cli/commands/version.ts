import { BUILD_INFO } from "../../service/operator/health/build-info.ts";
import { command } from "../command-line/command.ts";
import { flag } from "../command-line/option.ts";

export const versionCommand = command({
  summary: "print the version, and the git commit that it was built from",
  options: { json: flag("print a JSON object") },
  run: async ({ json }, { print }) => {
    const { version, commit } = BUILD_INFO;
    print(
      json ? JSON.stringify(BUILD_INFO) : commit === undefined ? version : `${version} (commit ${commit})`,
    );
  },
});
