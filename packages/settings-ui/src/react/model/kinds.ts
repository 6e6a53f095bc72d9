/** The enumerations of `@fastify-modular/settings` for browsers, where its entry would bring the server along. */
import type * as settings from '@fastify-modular/settings'

/** S 2.2; the compiler compares it with the original. */
export const SettingScope: typeof settings.SettingScope = { System: 0, Application: 1, User: 2 }

/** S 2.3; the compiler compares it with the original. */
export const SettingType: typeof settings.SettingType = {
  Text: 0,
  Number: 1,
  Bool: 2,
  Json: 3,
  Select: 4,
  Color: 5,
  Url: 6,
  Email: 7,
  Password: 8,
  MultilineText: 9,
  DateTime: 10,
}
