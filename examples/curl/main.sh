#!/bin/sh
# Calls the service over REST with a project's key. README.md says how to run it.
set -eu
url=$(jq -r .baseUrl .data/dev.json)
key=$(jq -r .apiKey .data/dev.json)

# Passes the key to curl on standard input, because other users can see a command's arguments.
call() {
  printf 'header = "authorization: Bearer %s"\n' "$key" |
    curl --config - --fail-with-body --silent --show-error "$@"
}

echo "network $(call "$url/v1/network" | jq -r .network)"
echo "price $(call "$url/v1/billing/pricing" | jq -r .signPriceMicroUsd) micro-USD"
echo "balance $(call "$url/v1/billing/balance" | jq -r .balanceMicroUsd) micro-USD"

# Lists come in pages. The last page has no token.
token=
while :; do
  page=$(call --get --data-urlencode pageSize=100 --data-urlencode "pageToken=$token" "$url/v1/dwallets")
  echo "$page" | jq -r '.dwallets[]? | "dwallet \(.dwalletId) \(.curve) \(.name // "-")"'
  token=$(echo "$page" | jq -r '.nextPageToken // ""')
  [ -n "$token" ] || break
done

# Every error has a machine-readable reason.
call "$url/v1/sign/00000000-0000-7000-8000-000000000000" | jq -r '"error \(.details[0].reason)"'
