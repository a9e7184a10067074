/* A static program contains the services `files` and `dns` of glibc. Without this call, glibc would load the other services
 * of /etc/nsswitch.conf from the system, and crash if the system has another version of glibc. */
#include <nss.h>

__attribute__((constructor)) static void select_contained_services(void) {
    __nss_configure_lookup("hosts", "files dns");
}
