module sui::object_table;

use sui::dynamic_field as field;

public struct ObjectTable<phantom K: copy + drop + store, phantom V: key + store> has key, store { id: UID, size: u64 }

public fun new<K: copy + drop + store, V: key + store>(ctx: &mut TxContext): ObjectTable<K, V> {
    ObjectTable { id: object::new(ctx), size: 0 }
}

public fun add<K: copy + drop + store, V: key + store>(table: &mut ObjectTable<K, V>, k: K, v: V) {
    field::add(&mut table.id, k, v);
    table.size = table.size + 1;
}

#[syntax(index)]
public fun borrow<K: copy + drop + store, V: key + store>(table: &ObjectTable<K, V>, k: K): &V {
    field::borrow(&table.id, k)
}

#[syntax(index)]
public fun borrow_mut<K: copy + drop + store, V: key + store>(table: &mut ObjectTable<K, V>, k: K): &mut V {
    field::borrow_mut(&mut table.id, k)
}

public fun remove<K: copy + drop + store, V: key + store>(table: &mut ObjectTable<K, V>, k: K): V {
    table.size = table.size - 1;
    field::remove(&mut table.id, k)
}

public fun contains<K: copy + drop + store, V: key + store>(table: &ObjectTable<K, V>, k: K): bool {
    field::exists_(&table.id, k)
}
