#!/bin/sh
# Makes the secrets of compose.yaml in ./secrets at random. It never changes an existing file.
# With the argument `mainnet` it also makes those that compose.two-networks.yaml adds.
# Put your own fullnode's URL into fullnode_url. Back up hot_wallet and deposit_seed: without them their coins are lost.
set -eu

mkdir -p secrets
chmod 700 secrets

# Containers read the files as another user, so only the folder's mode keeps them private.
keep() {
  [ -e "secrets/$1" ] && return
  printf '%s\n' "$2" >"secrets/$1"
  chmod 644 "secrets/$1"
}

for name in postgres_password redis_password grafana_password admin_api_key hot_wallet deposit_seed audit_seal \
  webhook_secret; do
  value=$(openssl rand -hex 32)
  keep "$name" "$value"
done
keep database_url "postgresql://tss:$(cat secrets/postgres_password)@postgres:5432/tss"
keep redis_url "redis://:$(cat secrets/redis_password)@redis:6379"
keep fullnode_url https://fullnode.testnet.sui.io:443

if [ "${1:-}" = mainnet ]; then
  for name in hot_wallet_mainnet deposit_seed_mainnet; do
    value=$(openssl rand -hex 32)
    keep "$name" "$value"
  done
  keep fullnode_url_mainnet https://fullnode.mainnet.sui.io:443
fi
