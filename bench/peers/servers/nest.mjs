// NestJS on Fastify: a global guard, a decorator for public routes, a filter for problem+json. Decorators are applied
// by calling them, as a compiler would, so that nothing needs one.
import cookie from '@fastify/cookie'
import { Catch, Controller, Get, HttpException, Injectable, Module, NotFoundException } from '@nestjs/common'
import { Req, SetMetadata, UnauthorizedException } from '@nestjs/common'
import { APP_FILTER, APP_GUARD, NestFactory, Reflector } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { listSettings } from '../../servers/listed-settings.mjs'
import { serve } from '../../support/serve.mjs'
import { missing, unauthorized, unmatched } from '../shared/problems.mjs'
import { mayRead, sessions } from '../shared/sessions.mjs'

const isPublic = 'isPublic'
const Public = () => SetMetadata(isPublic, true)

class SessionGuard {
  constructor(reflector) {
    this.reflector = reflector
  }
  canActivate(context) {
    if (this.reflector.getAllAndOverride(isPublic, [context.getHandler(), context.getClass()])) return true
    const request = context.switchToHttp().getRequest()
    request.user = sessions.get(request.cookies.session)
    if (request.user === undefined) throw new UnauthorizedException()
    return true
  }
}
decorate(SessionGuard, [Injectable()], [Reflector])

/** Tells a miss of the domain from a path without a route, for which Nest throws NotFoundException too. */
class ThingNotFoundException extends NotFoundException {}

class ProblemFilter {
  catch(exception, host) {
    const http = host.switchToHttp()
    const { url, id } = http.getRequest()
    const answer = ({ status, headers }, body) => http.getResponse().code(status).headers(headers).send(body)
    if (exception instanceof ThingNotFoundException)
      return answer(missing, missing.body(exception.message, url, id))
    if (exception instanceof UnauthorizedException) return answer(unauthorized, unauthorized.body(id))
    if (exception instanceof NotFoundException) return answer(unmatched, unmatched.body(url, id))
    const status = exception instanceof HttpException ? exception.getStatus() : 500
    return http.getResponse().code(status).send({ status })
  }
}
decorate(ProblemFilter, [Catch()])

class ThingsController {
  ping() {
    return { ok: true }
  }
  read(request) {
    return { ok: mayRead(request.user) }
  }
  refuse() {
    return { ok: false }
  }
  miss() {
    throw new ThingNotFoundException('Thing with ID 42 not found')
  }
  list() {
    return listSettings()
  }
}
decorate(ThingsController, [Controller()])
decorateMethod(ThingsController, 'ping', [Public(), Get('public/ping')])
decorateMethod(ThingsController, 'read', [Get('private')])
Req()(ThingsController.prototype, 'read', 0)
decorateMethod(ThingsController, 'refuse', [Get('refused')])
decorateMethod(ThingsController, 'miss', [Get('missing')])
decorateMethod(ThingsController, 'list', [Get('list/plain')])

function AppModule() {}
decorate(AppModule, [
  Module({
    controllers: [ThingsController],
    providers: [
      { provide: APP_GUARD, useClass: SessionGuard },
      { provide: APP_FILTER, useClass: ProblemFilter },
    ],
  }),
])

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] })
await app.register(cookie)
await serve({ server: app.getHttpServer(), listen: ({ host, port }) => app.listen(port, host) })

/** Decorates a class; `parameters` are the types that its constructor takes, which a compiler would have written down. */
function decorate(type, decorators, parameters = []) {
  Reflect.defineMetadata('design:paramtypes', parameters, type)
  Reflect.decorate(decorators, type)
}

function decorateMethod({ prototype }, name, decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
  Object.defineProperty(
    prototype,
    name,
    Reflect.decorate(decorators, prototype, name, descriptor) ?? descriptor,
  )
}
