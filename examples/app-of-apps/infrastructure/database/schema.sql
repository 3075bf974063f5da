create table if not exists notes (id bigint primary key, text text not null);
