import { expect, it } from "vitest";
import { wordsOf } from "../../../src/roles/words.ts";

it.each<[string, string[]]>([
  ["", []],
  ["CI/CD, next.js & JSON-LD", ["ci", "cd", "next", "js", "json", "ld"]],
  ["Größe naïve Привет", ["größe", "naïve", "привет"]],
  ["数据库迁移", ["数据", "据库", "库迁", "迁移"]],
  ["表", ["表"]],
  ["postgresの移行", ["postgres", "の移", "移行"]],
  ["데이터베이스", ["데이", "이터", "터베", "베이", "이스"]],
  ["e\u0301tude", ["étude"]],
  ["😀 … \u0000", []],
])("%j has the words %j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});
